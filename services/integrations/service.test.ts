import type { Env } from '@creditlane/runtime/env';
import { readSettings } from '@creditlane/runtime/setting';
import { localSettings } from '@creditlane/service/settings';
import { expect, test } from 'vitest';
import { integrations } from './service.ts';

const read = (env: Env) => readSettings(env, localSettings(integrations)).own;

const digest = 'AB'.repeat(32);
const env = {
  DATABASE_URL: 'postgres://integrations@127.0.0.1/creditlane_integrations',
  KEY_RING: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
  REQUEST_DIGEST_KEY: Buffer.alloc(32, 7).toString('base64'),
  PLATFORM_KEY_DIGESTS: ` ${digest}, ${'0'.repeat(64)}`,
};

test('platform keys are read from their digests in either case', () => {
  const { platformKeys } = read(env);
  expect([...platformKeys().keys()]).toEqual([digest.toLowerCase(), '0'.repeat(64)]);
  const ids = [...platformKeys().values()].map(({ callerId }) => callerId);
  expect(ids[0]).toBe('abababab-abab-8aba-8bab-abababababab');
});

test('a platform key has the permissions named after its digest, and all where none is named', () => {
  const permissionsOf = (entry: string) =>
    [
      ...read({ ...env, PLATFORM_KEY_DIGESTS: entry })
        .platformKeys()
        .values(),
    ][0]?.permissions;
  expect(permissionsOf(digest)).toEqual(['MANAGE_DIRECTORY', 'MANAGE_INTEGRATIONS', 'READ_AUDIT']);
  expect(permissionsOf(`${digest}:MANAGE_DIRECTORY`)).toEqual(['MANAGE_DIRECTORY']);
  for (const named of ['', 'ENQUEUE_RETAILER_CHAT', 'MANAGE_DIRECTORY:MANAGE_DIRECTORY']) {
    expect(() => permissionsOf(`${digest}:${named}`)).toThrow('entry 1 has other permissions');
  }
});

test('without settings, destinations must be public and have https', () => {
  const strict = { allowHttp: false, allowLoopback: false, ports: [443, 8443] };
  expect(read(env).destinations).toEqual(strict);
  const local = { DESTINATIONS_ALLOW_HTTP: 'true', DESTINATIONS_ALLOW_LOOPBACK: 'true' };
  expect(read({ ...env, ...local, DESTINATIONS_PORTS: '80,443' }).destinations).toEqual({
    allowHttp: true,
    allowLoopback: true,
    ports: [80, 443],
  });
});

test('all invalid settings are reported at once, without their values', () => {
  const wrong = { KEY_RING: 'k1:c2hvcnQ=', PLATFORM_KEY_DIGESTS: `${digest},cl_live_secret` };
  expect(() => read(wrong)).toThrow(
    /DATABASE_URL: missing.*KEY_RING: .*PLATFORM_KEY_DIGESTS: entry 2/s,
  );
  expect(() => read(wrong)).not.toThrow(/c2hvcnQ|cl_live_secret/);
});

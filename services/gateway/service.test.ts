import { readSettings } from '@creditlane/runtime/setting';
import { localSettings, processSettings } from '@creditlane/service/settings';
import { expect, test } from 'vitest';
import { gateway } from './service.ts';

const read = (env: Record<string, string>) => readSettings(env, localSettings(gateway)).own;

test('everything of the gateway has a default', () => {
  expect(read({})).toMatchObject({ host: '0.0.0.0', port: 8080, deadlineMs: 10_000 });
});

test('a key withdrawn is never remembered beyond the five seconds promised', () => {
  expect(() => read({ ACCESS_CACHE_TIME: '6s' })).toThrow('ACCESS_CACHE_TIME: ');
});

test('all that a process of its own lacks is named at once', () => {
  expect(() => readSettings({ PORT: 'x' }, processSettings(gateway))).toThrow(
    /^PORT: .*\nAPPLICATIONS_ADDRESS: missing\nDECISIONS_ADDRESS: missing\nINTEGRATIONS_ADDRESS: missing\nIDENTITY_KEY: missing$/,
  );
});

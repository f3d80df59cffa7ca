// An installation that an earlier version made gains what a new service needs, and keeps what it has. The
// files in test/earlier-installation are those of a version with five services, as it wrote them.

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, copyFile, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { completeEnvFile, composeVariables, openEnvFile } from '@creditlane/compose/env-file';
import type { CompleteRecords, Demo } from '@creditlane/local/demo/demo';
import { readJson, writeJson } from '@creditlane/local/json-file';
import { startOneProcess } from '@creditlane/local/one-process';
import { SERVICES } from '@creditlane/platform/services';
import { sqlMigration } from '@creditlane/postgres/sql-migration';
import { TokenSigner } from '@creditlane/rpc/identity';
import { compiledModules } from '@creditlane/runtime/compiled-modules';
import { setting } from '@creditlane/runtime/setting';
import { createTestProcess } from '@creditlane/runtime/test-process';
import { type AnyService, defineService } from '@creditlane/service/define-service';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import { ApiClient, decisionPath, recordDemoDecision } from './platform/api-client.ts';
import { createDataDir, removeDataDir } from './platform/temporary-data-dir.ts';

const run = promisify(execFile);
const EARLIER = resolve(import.meta.dirname, 'earlier-installation');
const ROOT = resolve(import.meta.dirname, '..');

/** A service that no version has: with a database, a secret, a topic and a peer of its own. */
const seen: string[] = [];
const newcomer = defineService(
  {
    name: 'newcomer',
    about: 'A score for each decision.',
    serves: 'calls',
    database: { name: 'creditlane_newcomer', entities: [], migrations: [] },
    consumes: ['creditlane.decisions.v1'],
    calls: ['applications'],
    settings: {
      key: setting.string('NEWCOMER_KEY', {
        secret: true,
        generate: () => 'made',
        about: 'A key.',
      }),
    },
  },
  async ({ settings, database, bus, isAlone }) => {
    const { rows } = await database.pool.query('SELECT current_database() AS name');
    seen.push(`${settings.key} ${rows[0].name} ${isAlone ? 'alone' : 'beside others'}`);
    await bus.subscribe({
      group: 'newcomer',
      topics: ['creditlane.decisions.v1'],
      handle: async (batch) => void seen.push(...batch.map(({ key }) => key)),
    });
    return { routes: [] };
  },
);
/** A migration of a newer version, which decisions has in the version with the newcomer. */
const NEWER = sqlMigration('Newer1999000000000', {
  up: ['ALTER TABLE decisions ADD COLUMN newer text'],
  compatibility: 'only adds',
});
const WITH_NEWCOMER: readonly AnyService[] = [
  ...SERVICES.map((service: AnyService) => {
    const { name, database } = service;
    if (name !== 'decisions' || database === undefined) return service;
    return { ...service, database: { ...database, migrations: [...database.migrations, NEWER] } };
  }),
  newcomer,
];

let dataDir: string;
beforeAll(async () => {
  dataDir = await createDataDir('earlier-installation');
});
afterAll(() => removeDataDir(dataDir));

/** Runs the platform on the data directory while `work` is done. */
async function whileRunning(
  services: readonly AnyService[],
  work: (demo: Demo) => Promise<void>,
): Promise<void> {
  const process = createTestProcess('earlier-installation');
  // The announcement is for people.
  vi.spyOn(globalThis.process.stdout, 'write').mockReturnValue(true);
  try {
    await startOneProcess({ port: 0, dataDir, reset: false, services }, process);
    await work((await readJson<Demo>(join(dataDir, 'demo.json'))) as Demo);
  } finally {
    await process.closers.close();
  }
}

test('a data directory gains the secrets and the database of a new service, and keeps its data', async () => {
  await writeFile(join(dataDir, 'creditlane.json'), '{"layoutVersion":1}\n');
  await copyFile(join(EARLIER, 'secrets.json'), join(dataDir, 'secrets.json'));
  const earlier = JSON.parse(readFileSync(join(EARLIER, 'secrets.json'), 'utf8'));

  let before: Demo | undefined;
  await whileRunning(SERVICES, async (demo) => {
    before = demo;
    expect(demo.keys.platform).toBe(earlier.platformKey);
    await recordDemoDecision(demo, 'DECLINED');
    expect(await readJson(join(dataDir, 'secrets.json'))).toMatchObject(earlier);
  });

  await whileRunning(WITH_NEWCOMER, async (demo) => {
    const { baseUrl: _, opsUrl: __, inboxUrl: ___, simulatorUrl: ____, ...kept } = before as Demo;
    expect(demo).toMatchObject(kept);
    const { body } = await new ApiClient(demo).get(decisionPath(demo));
    expect(body.decision).toBe('DECLINED');
    // In one process, no process of another version can use the database.
    expect(seen[0]).toBe('made creditlane_newcomer alone');
    await recordDemoDecision(demo, 'APPROVED');
    await expect.poll(() => seen).toContain(demo.applicationId);

    const secrets = (await readJson(join(dataDir, 'secrets.json'))) as typeof earlier;
    expect(secrets).toMatchObject({ ...earlier, newcomerKey: 'made' });
    expect(Object.keys(secrets.services)).toContain('newcomer');
  });
}, 90_000);

test('a start with demo data of an earlier version adds the records that they lack', async () => {
  await whileRunning(SERVICES, async (demo) => {
    // A column that this version does not know is no reason to refuse.
    await recordDemoDecision(demo, 'BOOKED');
    const { integrationId, retailerId, keys } = demo;
    const api = new ApiClient(demo);
    const asPlatform = { key: keys.platform };
    const integration = { name: 'Maple Lending Bridge', permissions: [] };
    const ofIntegration = `/platform/integrations/${integrationId}`;
    await api.call('PUT', ofIntegration, { ...asPlatform, body: integration });
    const body = { name: 'Harbour Motors' };
    await api.call('PUT', `/platform/retailers/${retailerId}`, { ...asPlatform, body });
  });
  const file = join(dataDir, 'demo-records.json');
  const {
    users: _,
    keyWithoutChat: __,
    applications: ___,
    simulatorUrl: ____,
    creditFile: _____,
    ...earlier
  } = (await readJson(file)) as CompleteRecords;
  await writeJson(file, earlier);

  let gained: Demo | undefined;
  await whileRunning(SERVICES, async (demo) => {
    gained = demo;
    const { applicationId, applications, creditorId } = demo;
    const comment = async (userId: string, key: string, id = applicationId) => {
      const path = `/applications/${id}/creditors/${creditorId}/retailer-comment`;
      return (await new ApiClient(demo).post(path, { userId, comment: 'Thank you.' }, { key }))
        .status;
    };
    const { active, group, inactive, foreign } = demo.users;
    const { integration, withoutChat } = demo.keys;
    expect(active).toBe(earlier.retailerUserId);
    expect(await comment(active, integration)).toBe(204);
    expect(await comment(group, integration)).toBe(204);
    expect(await comment(inactive, integration)).toBe(400);
    expect(await comment(foreign, integration)).toBe(400);
    expect(await comment(active, withoutChat)).toBe(403);

    for (const key of [integration, demo.otherTenant.key]) {
      const ids = key === integration ? demo : demo.otherTenant;
      const path = `/applications/${ids.applicationId}/applicants/${ids.applicantId}/consents`;
      const { data } = (await new ApiClient(demo).get(path, { key })).body;
      expect(data).toMatchObject([{ applicantId: ids.applicantId, textVersion: 'unspecified' }]);
    }
    const read = async (id: string) =>
      (await new ApiClient(demo).get(`/applications/${id}`)).body as object;
    const { retailerId } = demo;
    expect(await read(applications.draft)).toMatchObject({ retailerId, submissions: [] });
    expect(await read(applications.archived)).toMatchObject({
      retailerId,
      status: 'ARCHIVED',
      submissions: [{ creditorId }],
    });
    expect(await comment(active, integration, applications.archived)).toBe(400);

    for (const retailer of [retailerId, demo.otherTenant.retailerId]) {
      for (const source of ['EQUIFAX', 'TRANSUNION']) {
        const path = `/platform/retailers/${retailer}/bureau-credentials/${source}`;
        const { body } = await new ApiClient(demo).get(path, { key: demo.keys.platform });
        expect(body.baseUrl).toBe(`${demo.simulatorUrl}/${source.toLowerCase()}`);
      }
    }
    const { applicationId: pulled, applicantId } = demo.creditFile;
    const { body } = await new ApiClient(demo).get(
      `/applications/${pulled}/applicants/${applicantId}/consents`,
    );
    expect(body.data).toHaveLength(1);
  });
  await whileRunning(SERVICES, async (demo) => {
    const { users, keys, applications, creditFile } = gained as Demo;
    expect(demo).toMatchObject({ users, keys, applications, creditFile });
  });
}, 120_000);

test('deploy/.env gains the variables of a new service, and every line stays as it is', () => {
  const earlier = readFileSync(join(EARLIER, 'compose.env'), 'utf8');
  const text = completeEnvFile(earlier, WITH_NEWCOMER);
  expect(text.startsWith(earlier)).toBe(true);
  const names = text.split('\n').map((line) => line.split('=')[0] ?? '');
  expect(new Set(names).size).toBe(names.length);
  expect(names).toEqual(expect.arrayContaining(Object.keys(composeVariables(WITH_NEWCOMER))));
  expect(completeEnvFile(text, WITH_NEWCOMER)).toBe(text);

  // The other services still trust the public key of the private key with which decisions signs.
  const trusted = valueIn(text, 'DECISIONS_IDENTITY_TRUST');
  expect(valueIn(earlier, 'IDENTITY_TRUST').split(',')).toContain(trusted);
  const privateKey = valueIn(text, 'NEWCOMER_IDENTITY_KEY');
  expect(() => new TokenSigner({ issuer: 'newcomer', privateKey })).not.toThrow();
  expect(valueIn(text, 'NEWCOMER_KEY')).toBe('made');
});

test('a deploy/.env that other users could read is closed to them, and keeps its lines', async () => {
  const file = join(dataDir, 'compose.env');
  await copyFile(join(EARLIER, 'compose.env'), file);
  for (const result of ['completed', 'unchanged']) {
    await chmod(file, 0o644);
    expect(await openEnvFile(file, SERVICES)).toBe(result);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  }
  const [text, earlier] = [file, join(EARLIER, 'compose.env')].map((it) =>
    readFileSync(it, 'utf8'),
  );
  expect(text?.startsWith(earlier ?? '')).toBe(true);
  expect(text).toMatch(/^KAFKA_PASSWORD='[\w-]{32}'$/m);
});

test('a trusted key of an earlier file stays trusted while its service changes to another', () => {
  const earlier = readFileSync(join(EARLIER, 'compose.env'), 'utf8');
  const [trusted = ''] = /decisions:[^,']+/.exec(earlier) ?? [];
  const changing = earlier.replace(trusted, `${trusted},decisions:older`);
  const text = completeEnvFile(changing, SERVICES);
  expect(valueIn(text, 'DECISIONS_IDENTITY_TRUST')).toBe(`${trusted},decisions:older`);
});

test('missing databases and roles are created, and existing ones are kept, with their passwords', async () => {
  const server = new URL(inject('postgresUrl'));
  const suffix = Math.random().toString(36).slice(2, 10);
  const [first, second] = [`earlier_${suffix}`, `newer_${suffix}`];
  const makeDatabases = (...names: string[]) =>
    run(process.execPath, [join(ROOT, 'libs/postgres/make-databases.ts')], {
      env: {
        ...compiledModules(),
        ADMIN_DATABASE_URL: server.href,
        DATABASES: names.map((name) => `${name}:secret`).join(', '),
      },
    });
  const query = async ({ href: connectionString }: URL, text: string) => {
    const client = new pg.Client({ connectionString });
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  };
  const asAdmin = (text: string) => query(server, text);
  const passwords: Record<string, string> = {};
  const asOwner = (owner: string, database: string, text: string) => {
    const url = new URL(server);
    const password = passwords[owner] ?? 'secret';
    Object.assign(url, { username: owner, password, pathname: `/${database}` });
    return query(url, text);
  };
  try {
    await makeDatabases(first);
    await asOwner(first, first, 'CREATE TABLE kept AS SELECT 7 AS number');
    // As docs/operations/passwords.md changes it.
    passwords[first] = 'changed';
    await asAdmin(`ALTER ROLE ${first} PASSWORD 'changed'`);
    // Earlier versions made no request roles.
    await asAdmin(`DROP ROLE ${first}_requests`);
    await makeDatabases(first, second);
    const membership = `SELECT pg_has_role('${first}_requests', 'MEMBER') AS is_member`;
    expect(await asOwner(first, first, membership)).toEqual([{ is_member: true }]);
    expect(await asOwner(first, first, 'SELECT number FROM kept')).toEqual([{ number: 7 }]);
    expect(await asOwner(second, second, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await expect(asOwner(second, first, 'SELECT 1')).rejects.toThrow(/permission denied/);
  } finally {
    for (const name of [first, second]) {
      await asAdmin(`DROP DATABASE IF EXISTS ${name}`);
      await asAdmin(`DROP ROLE IF EXISTS ${name}_requests, ${name}`);
    }
  }
});

function valueIn(text: string, name: string): string {
  return new RegExp(`^${name}='(.*)'$`, 'm').exec(text)?.[1] ?? '';
}

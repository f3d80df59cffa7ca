// Under load, all databases are backed up and lost together with Kafka, and restored as docs/operations/backup.md says.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Demo } from '@creditlane/local/demo/demo';
import { HOST } from '@creditlane/local/host';
import { choosePorts } from '@creditlane/local/ports';
import { settingsOf } from '@creditlane/local/settings';
import { prepareDatabases } from '@creditlane/platform/databases';
import { makeSecrets } from '@creditlane/platform/secrets';
import { DATABASES, SERVICES } from '@creditlane/platform/services';
import { portsNeeded } from '@creditlane/processes/instances';
import {
  type ProcessPlatform,
  type ProcessPlatformOptions,
  startProcessPlatform,
} from '@creditlane/processes/process-platform';
import { Closers } from '@creditlane/runtime/closers';
import { Health } from '@creditlane/runtime/health';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { findFreePorts } from '@creditlane/supervision/free-ports';
import { afterEach, expect, test } from 'vitest';
import { KafkaUnderTest } from '../faults/kafka-under-test.ts';
import { PUBLISHERS } from '../faults/run-databases.ts';
import { PROFILE } from '../faults/run-profile.ts';
import { type FaultContext, runWithFault } from '../faults/run-with-fault.ts';
import { createDataDir, removeDataDir } from '../platform/temporary-data-dir.ts';
import { ArchivedPostgres } from './archived-postgres.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);
const print = (line: string) => void process.stdout.write(`${line}\n`);

/** Few callers, each of whom repeats its write until the restore has ended. */
const LOAD = { ...PROFILE, perSecond: 20, settleWithinMs: 180_000, giveUpAfterMs: 500_000 };
/** How much earlier than the restored time the events are published again: all that the outboxes have, as the page says. */
const PUBLISHED_SINCE_MS = 7 * 24 * 60 * 60 * 1_000;

const closers = new Closers({ deadlineMs: 60_000 });
afterEach(() => closers.close());

/** The statements of the page's step that destroys erased keys again; they stand there in this order. */
const [createNewestKeys = '', countNewestKeys = '', destroyErased = ''] = [
  ...readFileSync(join(ROOT, 'docs/operations/backup.md'), 'utf8').matchAll(
    /^ *```sql\n(.*?)```/gms,
  ),
].map(([, sql = '']) => sql);

interface Installation {
  postgres: ArchivedPostgres;
  kafka: KafkaUnderTest;
  options: ProcessPlatformOptions;
  /** Ends with its closers. */
  platform: ProcessPlatform;
  processes: Closers;
}

test('after a loss of all databases and of Kafka, a restore keeps the whole history', async () => {
  const installation = await startInstallation();
  const { options, platform } = installation;
  const system = {
    demo: {
      baseUrl: platform.baseUrl,
      keys: { integration: '', withoutChat: '', platform: options.secrets.platformKey },
    } as Demo,
    databaseUrl: async (owner: keyof typeof DATABASES) => options.databaseUrls[owner],
  };
  const fault = (context: FaultContext) => loseAndRestore(installation, context);
  await runWithFault({ ...LOAD, name: 'restore', system, fault });
});

async function startInstallation(): Promise<Installation> {
  const dir = await createDataDir('restore');
  closers.add('data directory', () => removeDataDir(dir));
  const kafka = await KafkaUnderTest.start();
  if (kafka === undefined) throw new Error('Kafka cannot run here');
  closers.add('Kafka', () => kafka.close());
  await kafka.makeTopics();
  const secrets = makeSecrets();
  const [port = 0] = await findFreePorts(1);
  const password = secrets.postgresPassword;
  const postgres = await ArchivedPostgres.start({ dir, password, port });
  closers.add('PostgreSQL', () => postgres.close());
  const databaseUrls = await prepareDatabases(postgres.adminUrl, secrets);
  const ports = await choosePorts({ first: 0, host: HOST, services: portsNeeded({}) });
  const options = { secrets, databaseUrls, ports, kafka: kafka.env, write: printProblems };
  return { postgres, kafka, options, ...(await startPlatform(options)) };
}

async function startPlatform(options: ProcessPlatformOptions) {
  const processes = new Closers({ deadlineMs: 60_000 });
  closers.add('platform', () => processes.close());
  const life = { metrics: new Metrics(), health: new Health(), closers: processes };
  const log = createLog('restore', { level: 'warn', pretty: true });
  return { platform: await startProcessPlatform(options, { ...life, log }), processes };
}

/** The steps of backup.md and of kafka-lost.md, with the commands that the pages have. */
async function loseAndRestore(installation: Installation, context: FaultContext): Promise<void> {
  const { postgres, kafka, options, platform, processes } = installation;
  await context.waitForWrite();
  await postgres.takeBaseBackup();
  print('base backup taken under load');
  await context.waitForWrite();
  const erased = await countKeys(postgres);

  await context.crash(async () => {
    // A stopped dispatcher leaves events that are only in Kafka when Kafka loses its data.
    const { 'webhook-dispatcher': dispatcher } = platform.services();
    process.kill(dispatcher?.pid ?? 0, 'SIGSTOP');
    await context.waitForWrite();
    await processes.close();
    const time = await endFirst(postgres);
    await kafka.replaceWithEmpty();
    const restored = await postgres.restoreTo(time);
    closers.add('restored PostgreSQL', () => restored.close());
    print(`restored to ${time}`);

    await expectOnlyBefore(restored);
    await destroyErasedKeys(restored);
    expect(await countKeys(restored)).toEqual({ ...erased, destroyed: erased.destroyed + 1 });
    const since = new Date(Date.parse(time) - PUBLISHED_SINCE_MS).toISOString();
    await Promise.all(PUBLISHERS.map((name) => republish(name, since, options)));
    await runProgram(join('libs/events', 'make-topics.ts'), [], kafka.env);
    await startPlatform(options);
    await context.waitForWrite();
  });
}

/** Writes what the restore must not have, and archives all WAL. Resolves to the time to restore to. */
async function endFirst(postgres: ArchivedPostgres): Promise<string> {
  const time = await postgres.withAdmin(async (admin) => {
    const { rows } = await admin.query<{ time: string }>('SELECT clock_timestamp()::text AS time');
    return rows[0]?.time ?? '';
  });
  await postgres.inDatabase(DATABASES.applications, async (admin) => {
    await admin.query(`UPDATE applicant_keys
      SET sealed = NULL, sealed_with = NULL, destroyed_at = now()
      WHERE id = (SELECT min(id::text)::uuid FROM applicant_keys WHERE destroyed_at IS NULL)`);
    // What `pg_dump --data-only --table=applicant_keys` has.
    await admin.query(`COPY applicant_keys TO '${postgres.fileFor('applicant_keys')}'`);
    await admin.query('CREATE TABLE written_after_the_time ()');
  });
  await postgres.archiveAll();
  return time;
}

async function expectOnlyBefore(restored: ArchivedPostgres): Promise<void> {
  const { rows } = await restored.inDatabase(DATABASES.applications, (admin) =>
    admin.query(`SELECT to_regclass('written_after_the_time') AS found`),
  );
  expect(rows).toEqual([{ found: null }]);
}

async function destroyErasedKeys(restored: ArchivedPostgres): Promise<void> {
  await restored.inDatabase(DATABASES.applications, async (admin) => {
    await admin.query(createNewestKeys);
    await admin.query(`COPY newest_applicant_keys FROM '${restored.fileFor('applicant_keys')}'`);
    const { rows } = await admin.query(countNewestKeys);
    expect(Number(rows[0]?.count)).toBeGreaterThan(0);
    await admin.query(destroyErased);
  });
}

async function countKeys(postgres: ArchivedPostgres) {
  const { rows } = await postgres.inDatabase(DATABASES.applications, (admin) =>
    admin.query<{ all: number; destroyed: number }>(
      'SELECT count(*)::int AS all, count(destroyed_at)::int AS destroyed FROM applicant_keys',
    ),
  );
  return rows[0] ?? expect.unreachable();
}

async function republish(
  name: (typeof PUBLISHERS)[number],
  since: string,
  options: ProcessPlatformOptions,
): Promise<void> {
  const service = SERVICES.find((it) => it.name === name) ?? expect.unreachable();
  // No relay runs that may still publish what it has read.
  const args = ['--republish-outbox', '--since', since, '--wait-seconds', '1'];
  await runProgram(join('services', name, 'main.ts'), args, settingsOf(service, options));
}

async function runProgram(file: string, args: string[], env: Record<string, string>) {
  const { stdout } = await run(process.execPath, [join(ROOT, file), ...args], { env });
  print(`node ${[file, ...args].join(' ')}: ${stdout.trim()}`);
}

/** Prints lines of the log at level error and above: while Kafka is away there are some. */
function printProblems(text: string): void {
  if (/^\S+ (ERROR|FATAL) /.test(text)) process.stderr.write(text);
}

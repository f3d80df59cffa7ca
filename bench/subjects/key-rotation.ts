/** The applications service starts, and ends a rotation of the key ring, with the data keys of 5,000,000 applicants. */
import { randomBytes, randomUUID } from 'node:crypto';
import { applications } from '@creditlane/applications/service';
import { sealedKeys } from '@creditlane/crypto/applicant-keys';
import { DataKey } from '@creditlane/crypto/data-key';
import { KeyRing } from '@creditlane/crypto/key-ring';
import { createInProcessBus } from '@creditlane/events/in-process-bus';
import { prepareDatabases } from '@creditlane/platform/databases';
import { makeSecrets } from '@creditlane/platform/secrets';
import { Closers } from '@creditlane/runtime/closers';
import { Health } from '@creditlane/runtime/health';
import { readSettings } from '@creditlane/runtime/setting';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { localSettings } from '@creditlane/service/settings';
import { startService } from '@creditlane/service/start-service';
import { runSql } from '../data/sql.ts';
import type { Bench } from '../harness.ts';
import { startBenchPostgres } from '../platform/bench-postgres.ts';

const APPLICANTS = 5_000_000;
/** Rows of a statement. */
const ROWS = 500_000;
/** What replicas with the earlier ring have written beside the rotation. */
const LEFT = 1_000;
const MAX_START_MS = 5_000;
const MAX_ROTATION_MS = 10_000;
const WATCHED_MS = 60_000;
const RETAILER_ID = randomUUID();

const OLD = `k1:${randomBytes(32).toString('base64')}`;
const NEW = `k2:${randomBytes(32).toString('base64')}`;

export default async function measure(bench: Bench): Promise<void> {
  const { socketUrl: adminUrl } = await startBenchPostgres(bench.closers);
  const url = (await prepareDatabases(adminUrl, makeSecrets())).applications;
  await (await start(url, `${OLD},${NEW}`)).close();

  bench.print(`inserting ${APPLICANTS} data keys of the new key and ${LEFT} of the old one`);
  const admin = new URL(adminUrl);
  admin.pathname = new URL(url).pathname;
  // Without foreign keys: the data keys have no applicants.
  admin.searchParams.set('options', '-c session_replication_role=replica');
  for (let count = 0; count < APPLICANTS; count += ROWS) await insertApplicants(admin.href);
  await insertSealed(url, KeyRing.parse(OLD));
  await runSql(url, 'ANALYZE applicant_keys');
  await runSql(adminUrl, 'CHECKPOINT');

  const scanStartedMs = performance.now();
  await runSql(url, `SELECT id FROM applicant_keys WHERE sealed_with <> 'k2' LIMIT 200`);
  const scanMs = Math.round(performance.now() - scanStartedMs);
  bench.print(`reading the table for records of another key: ${scanMs} ms`);

  const rotating = await start(url, `${NEW},${OLD}`);
  bench.limit('start of the service', rotating.startMs, MAX_START_MS, 'ms');
  const rotatedMs = await untilRotated(url);
  bench.limit(`rotation of ${LEFT} records`, rotatedMs, MAX_ROTATION_MS, 'ms');
  await rotating.close();
  const rotated = await start(url, NEW);
  bench.limit('start without the old key', rotated.startMs, MAX_START_MS, 'ms');
  await rotated.close();
}

/** Starts the service as a process does, with its migrations. */
async function start(url: string, keys: string) {
  const closers = new Closers();
  const log = createLog('bench', { level: 'error', pretty: true });
  const env = {
    DATABASE_URL: url,
    KEY_RING: keys,
    REQUEST_DIGEST_KEY: randomBytes(32).toString('base64'),
  };
  const values = readSettings(env, localSettings(applications));
  const process = { log, closers, metrics: new Metrics(), health: new Health() };
  const startedMs = performance.now();
  await startService(applications, values, { process, bus: createInProcessBus({ consumers: {} }) });
  return { startMs: performance.now() - startedMs, close: () => closers.close() };
}

/** Data keys that nothing opens, without their applicants. */
async function insertApplicants(adminUrl: string): Promise<void> {
  await runSql(
    adminUrl,
    `INSERT INTO applicant_keys (id, applicant_id, retailer_id, sealed, sealed_with, created_at)
     SELECT uuidv7(), uuidv7(), $2, decode(repeat('00', 130), 'hex'), 'k2', now()
     FROM generate_series(1, $1)`,
    [ROWS, RETAILER_ID],
  );
}

async function insertSealed(url: string, ring: KeyRing): Promise<void> {
  const ids = Array.from({ length: LEFT }, () => randomUUID());
  const sealed = ids.map((id) => DataKey.generateStored(ring, sealedKeys.context(id, RETAILER_ID)));
  await runSql(
    url,
    `INSERT INTO applicant_keys (id, applicant_id, retailer_id, sealed, sealed_with, created_at)
     SELECT id, id, $3, sealed, 'k1', now() FROM unnest($1::uuid[], $2::bytea[]) AS it (id, sealed)`,
    [ids, sealed, RETAILER_ID],
  );
}

/** How long it took until no applicant named the old key. */
async function untilRotated(url: string): Promise<number> {
  const startedMs = performance.now();
  for (;;) {
    const left = await runSql(url, `SELECT FROM applicant_keys WHERE sealed_with = 'k1' LIMIT 1`);
    const elapsedMs = performance.now() - startedMs;
    if (left.length === 0) return elapsedMs;
    if (elapsedMs > WATCHED_MS) return Number.POSITIVE_INFINITY;
  }
}

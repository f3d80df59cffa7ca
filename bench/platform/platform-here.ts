/** The platform in this process, on a PostgreSQL of its own, for measurements on large tables. */
import { seedDemoData } from '@creditlane/local/demo/demo';
import { HOST } from '@creditlane/local/host';
import { startPlatform } from '@creditlane/local/platform';
import { choosePorts } from '@creditlane/local/ports';
import { prepareDatabases } from '@creditlane/platform/databases';
import { makeSecrets } from '@creditlane/platform/secrets';
import { Health } from '@creditlane/runtime/health';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import type { Bench } from '../harness.ts';
import { startBenchPostgres } from './bench-postgres.ts';
import { SETTINGS } from './run-mode.ts';

/** Starts the platform with the two tenants of the demo; the webhooks of the first go to `inboxUrl`. */
export async function startPlatformHere(
  bench: Bench,
  inboxUrl: string,
  postgresSettings: Readonly<Record<string, string>> = {},
) {
  const postgres = await startBenchPostgres(bench.closers, postgresSettings);
  const { socketUrl: adminUrl, pid: postgresPid } = postgres;
  const secrets = makeSecrets();
  const databaseUrls = await prepareDatabases(adminUrl, secrets);
  const ports = await choosePorts({ first: 0, host: HOST });
  const log = createLog('bench', { level: 'error', pretty: true });
  const metrics = new Metrics();
  const { baseUrl, settled } = await startPlatform(
    { ports, secrets, databaseUrls, settings: SETTINGS },
    { log, closers: bench.closers, metrics, health: new Health() },
  );
  const access = { baseUrl, platformKey: secrets.platformKey, inboxUrl };
  const records = await seedDemoData(access);
  return { ...access, ...records, adminUrl, postgresPid, databaseUrls, metrics, settled };
}

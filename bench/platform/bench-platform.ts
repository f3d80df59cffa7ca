/** The platform under measurement with its PostgreSQL, and the load generator, each in its own process. */
import { type Submitter, seedDemoData } from '@creditlane/local/demo/demo';
import { prepareDatabases } from '@creditlane/platform/databases';
import { makeSecrets } from '@creditlane/platform/secrets';
import type { DatabaseOwner } from '@creditlane/platform/services';
import { untilSettled } from '@creditlane/processes/settled';
import type { Closers } from '@creditlane/runtime/closers';
import { copySubmission, type Submission } from '../data/submissions.ts';
import type { LoadWorker } from '../load/load-worker.ts';
import { startBenchPostgres } from './bench-postgres.ts';
import { type PlatformAddress, type PlatformWorker, type RunMode, SETTINGS } from './run-mode.ts';
import { startWorker, type Worker } from './worker.ts';

/** An integration's API key, and the submission whose copies it decides on. */
type Tenant = Submission & { key: string };

export interface BenchPlatform {
  runMode: RunMode;
  /** The process that runs the platform, or that started the platform's processes. */
  worker: Worker<PlatformWorker>;
  baseUrl: string;
  platformKey: string;
  processes: PlatformAddress['processes'];
  databaseUrls: Record<DatabaseOwner, string>;
  postgresPid(): number;
  adminUrl: string;
  loadWorker: Worker<LoadWorker>;
  /** One tenant has a webhook destination, the other has none. */
  tenants: { withWebhook: Tenant & Submitter; withoutWebhook: Tenant };
  /** Resolves once all webhooks of all decisions are delivered. */
  settled(): Promise<void>;
}

export interface BenchPlatformOptions {
  runMode: RunMode;
  /** Command-line flags of Node for the platform's processes. */
  nodeFlags: string[];
}

/** `settled` looks at the newest events of each outbox only: a load leaves too many to query for all. */
const NEWEST_EVENTS = 1_000;

/** Starts the platform with two tenants that have one submission each. */
export async function startBenchPlatform(
  options: BenchPlatformOptions,
  closers: Closers,
): Promise<BenchPlatform> {
  const { runMode, nodeFlags } = options;
  const postgres = await startBenchPostgres(closers);
  const { adminUrl, socketUrl, pid: postgresPid, dataDir } = postgres;
  const secrets = makeSecrets();
  const databaseUrls = await prepareDatabases(socketUrl, secrets);

  const worker = startPlatformWorker(options);
  closers.add('platform', worker.close);
  const loadWorker = startWorker<LoadWorker>('load/load-worker.ts');
  closers.add('load generator', loadWorker.close);
  const settings = { secrets, databaseUrls, settings: SETTINGS };
  const started = await worker.call('start', { ...settings, dataDir, nodeFlags });
  const settled = () => untilSettled(databaseUrls, { newest: NEWEST_EVENTS });
  const { otherTenant: withoutWebhook, ...withWebhook } = await seedDemoData({
    baseUrl: started.baseUrl,
    platformKey: secrets.platformKey,
    inboxUrl: await loadWorker.call('startReceiver', undefined),
  });
  await settled();
  return {
    runMode,
    worker,
    ...started,
    platformKey: secrets.platformKey,
    databaseUrls,
    adminUrl,
    postgresPid,
    loadWorker,
    tenants: { withWebhook, withoutWebhook },
    settled,
  };
}

function startPlatformWorker({ runMode, nodeFlags }: BenchPlatformOptions): Worker<PlatformWorker> {
  if (runMode === 'one process') return startWorker('platform/one-process-worker.ts', nodeFlags);
  // This worker only starts the platform's processes, and passes the flags to these.
  return startWorker('platform/processes-worker.ts');
}

/** Gives both tenants' writers this many new applications to decide on. */
export async function prepareWriters(platform: BenchPlatform, applications: number): Promise<void> {
  const fromUrl = platform.databaseUrls.decisions;
  for (const name of ['withWebhook', 'withoutWebhook'] as const) {
    const copies = await copySubmission({ fromUrl }, platform.tenants[name], applications);
    await setWriter(platform, name, copies);
  }
}

/** Makes the load generator write this tenant's decisions on these applications, one after the other. */
export async function setWriter(
  { loadWorker, tenants, baseUrl }: BenchPlatform,
  tenant: keyof BenchPlatform['tenants'],
  applicationIds: string[],
  name: string = tenant,
): Promise<void> {
  const { key, creditorId } = tenants[tenant];
  await loadWorker.call('setWriter', {
    name,
    writer: { baseUrl, key, creditorId, applicationIds },
  });
}

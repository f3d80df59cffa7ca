/** A whole platform to measure, with those who write and the one who receives, each a process of its own. */
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '@creditlane/embedded-postgres/embedded-postgres';
import { seedDemoData } from '@creditlane/local/demo';
import { prepareDatabases } from '@creditlane/platform/databases';
import { makeSecrets, type Secrets } from '@creditlane/platform/secrets';
import type { DatabaseOwner } from '@creditlane/platform/services';
import { untilSettled } from '@creditlane/processes/settled';
import type { Closers } from '@creditlane/runtime/closers';
import { copySubmission, type Submission } from '../data/submissions.ts';
import type { OutsidePart } from '../load/load-worker.ts';
import type { FleetPart } from './processes-worker.ts';
import { type Platform, type PlatformPart, SETTINGS, type Shape } from './run-mode.ts';
import { type Part, startPart } from './worker.ts';

/** Who writes decisions, and the submission that there is to write on. */
type Tenant = Submission & { key: string };

export interface BenchPlatform {
  shape: Shape;
  platform: Part<PlatformPart>;
  /** The same where each service is a process. */
  fleet: Part<FleetPart> | undefined;
  baseUrl: string;
  processes: Platform['processes'];
  databaseUrls: Record<DatabaseOwner, string>;
  postgresPid(): number;
  adminUrl: string;
  outside: Part<OutsidePart>;
  /** "told" has a webhook destination, "untold" has none. */
  tenants: { told: Tenant; untold: Tenant };
  /** Resolves once every decision's webhooks are delivered. */
  settled(): Promise<void>;
}

export interface BenchPlatformOptions {
  shape: Shape;
  /** Flags of Node for the platform's processes. */
  nodeFlags: string[];
}

/** Of each outbox: so many stand for all, which are too many to ask for. */
const NEWEST = 1_000;

/** Starts the world, where nobody has anything to write on yet. */
export async function startBenchPlatform(
  options: BenchPlatformOptions,
  closers: Closers,
): Promise<BenchPlatform> {
  const { shape, nodeFlags } = options;
  const dataDir = await mkdtemp(join(tmpdir(), 'creditlane-bench-'));
  closers.add('data directory', () => rm(dataDir, { recursive: true, force: true }));
  // Run by root, the server is another user's process and must be able to enter.
  await chmod(dataDir, 0o755);
  const password = randomBytes(24).toString('base64url');
  const postgres = await startEmbeddedPostgres({ dataDir, password });
  closers.add('PostgreSQL', postgres.close);
  const { adminUrl, pid: postgresPid } = postgres;
  const secrets = makeSecrets();
  const databaseUrls = await prepareDatabases(adminUrl, secrets);

  const parts = startParts(options);
  closers.add('platform', parts.platform.close);
  const outside = startPart<OutsidePart>('load/load-worker.ts');
  closers.add('outside', outside.close);
  const house = { secrets, databaseUrls, settings: SETTINGS };
  const started = await parts.platform.call('start', { ...house, dataDir, nodeFlags });
  const settled = () => untilSettled(databaseUrls, { newest: NEWEST });
  const tenants = await runInstallation(
    started.baseUrl,
    secrets,
    await outside.call('listen', undefined),
  );
  await settled();
  const databases = { databaseUrls, adminUrl, postgresPid };
  return { shape, ...parts, ...started, ...databases, outside, tenants, settled };
}

function startParts({
  shape,
  nodeFlags,
}: BenchPlatformOptions): Pick<BenchPlatform, 'platform' | 'fleet'> {
  if (shape === 'one process') {
    return {
      platform: startPart<PlatformPart>('platform/one-process-worker.ts', nodeFlags),
      fleet: undefined,
    };
  }
  // Its own process only starts the others: the flags are for these.
  const fleet = startPart<FleetPart>('platform/processes-worker.ts');
  return { platform: fleet, fleet };
}

async function runInstallation(baseUrl: string, secrets: Secrets, inboxUrl: string) {
  const { platformKey } = secrets;
  const { otherTenant: untold, ...told } = await seedDemoData({ baseUrl, platformKey, inboxUrl });
  return { told, untold };
}

/** Gives each writer so many applications of its own to decide on. */
export async function introduceWriters(world: BenchPlatform, applications: number): Promise<void> {
  const fromUrl = world.databaseUrls.decisions;
  for (const name of ['told', 'untold'] as const) {
    const copies = await copySubmission({ fromUrl }, world.tenants[name], applications);
    await introduce(world, name, copies);
  }
}

/** From now on the writer goes round these applications. */
export async function introduce(
  { outside, tenants, baseUrl }: BenchPlatform,
  name: keyof BenchPlatform['tenants'],
  applicationIds: string[],
): Promise<void> {
  const { key, creditorId } = tenants[name];
  await outside.call('introduce', { name, writer: { baseUrl, key, creditorId, applicationIds } });
}

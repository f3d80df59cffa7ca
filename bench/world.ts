/** A whole platform to measure, with those who write and the one who receives, each a process of its own. */
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { submissionsAndDecisions1763700000000 } from '@creditlane/decisions/migrations/0001-submissions-and-decisions';
import { prepareDatabases } from '@creditlane/local/databases';
import { furnish } from '@creditlane/local/demo';
import { choosePorts } from '@creditlane/local/free-ports';
import { HOST } from '@creditlane/local/host';
import { makeSecrets } from '@creditlane/local/secrets';
import { startEmbeddedPostgres } from '@creditlane/postgres/embedded';
import { migrate } from '@creditlane/postgres/migrate';
import type { Closers } from '@creditlane/runtime/closers';
import { createLog } from '@creditlane/runtime/log';
import { type Part, startPart } from './child.ts';
import type { HousePart } from './house-part.ts';
import type { OutsidePart } from './outside-part.ts';
import { copySubmission, type Submission } from './submissions.ts';

export interface World {
  house: Part<HousePart>;
  outside: Part<OutsidePart>;
  postgresPid(): number;
  adminUrl: string;
  /** Of the decisions service's tables, with nobody else at work on them. */
  limit: { url: string; creditorId: string; applicationIds: string[] };
  webhooksUrl: string;
}

/**
 * Starts the world. Two writers are introduced to the outside: "told" is an integration with a webhook
 * destination, "untold" one without.
 */
export async function startWorld(
  options: { applications: number; profileDir: string | undefined },
  closers: Closers,
): Promise<World> {
  const dataDir = await mkdtemp(join(tmpdir(), 'creditlane-bench-'));
  closers.add('data directory', () => rm(dataDir, { recursive: true, force: true }));
  // Run by root, the server is another user's process and must be able to enter.
  await chmod(dataDir, 0o755);
  const password = randomBytes(24).toString('base64url');
  const postgres = await startEmbeddedPostgres({ dataDir, password });
  closers.add('PostgreSQL', postgres.close);
  const { adminUrl } = postgres;
  const secrets = makeSecrets();
  const databaseUrls = await prepareDatabases(adminUrl, secrets);

  const profile = options.profileDir && ['--cpu-prof', `--cpu-prof-dir=${options.profileDir}`];
  const house = startPart<HousePart>('house-part.ts', profile || []);
  closers.add('house', house.close);
  const outside = startPart<OutsidePart>('outside-part.ts');
  closers.add('outside', outside.close);
  const settings = { gateway: { RATE_LIMIT_REQUESTS: '1000000' } };
  const ports = await choosePorts(0, HOST);
  const baseUrl = await house.call('start', { secrets, databaseUrls, ports, settings });
  const inboxUrl = await outside.call('listen', undefined);
  const { platformKey } = secrets;
  const { otherTenant: untold, ...told } = await furnish({ baseUrl, platformKey, inboxUrl });
  await house.call('settled', undefined);

  for (const [name, tenant] of Object.entries({ told, untold })) {
    const fromUrl = databaseUrls.decisions;
    const applicationIds = await copySubmission({ fromUrl }, tenant, options.applications);
    const { key, creditorId } = tenant;
    await outside.call('introduce', { name, writer: { baseUrl, key, creditorId, applicationIds } });
  }
  return {
    house,
    outside,
    postgresPid: postgres.pid,
    adminUrl,
    limit: await prepareLimit(adminUrl, databaseUrls.decisions, untold, options.applications),
    webhooksUrl: databaseUrls['webhook-dispatcher'],
  };
}

/** A second database as the decisions service has it, on the same server. */
async function prepareLimit(
  adminUrl: string,
  fromUrl: string,
  submission: Submission,
  applications: number,
): Promise<World['limit']> {
  const urls = await prepareDatabases(adminUrl, makeSecrets(), '_limit');
  const toUrl = urls.decisions;
  const log = createLog('bench', { level: 'warn' });
  await migrate(toUrl, [submissionsAndDecisions1763700000000], log);
  const applicationIds = await copySubmission({ fromUrl, toUrl }, submission, applications);
  return { url: toUrl, creditorId: submission.creditorId, applicationIds };
}

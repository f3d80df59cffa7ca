/** Databases beside the platform's on the same server, with nobody at work on them. */
import { submissionsAndDecisions1763700000000 } from '@creditlane/decisions/migrations/0001-submissions-and-decisions';
import { decisionCalls1763900000000 } from '@creditlane/decisions/migrations/0002-decision-calls';
import { prepareDatabases } from '@creditlane/platform/databases';
import { makeSecrets } from '@creditlane/platform/secrets';
import type { DatabaseOwner } from '@creditlane/platform/services';
import { migrate } from '@creditlane/postgres/migrate';
import { createLog } from '@creditlane/runtime/telemetry/log';
import type { BenchPlatform } from '../platform/bench-platform.ts';
import { copySubmission } from './submissions.ts';

const MIGRATIONS = [submissionsAndDecisions1763700000000, decisionCalls1763900000000];

/** The decisions service's tables are there, with applications to decide on; their creditor's are told. */
export interface Apart {
  databaseUrls: Record<DatabaseOwner, string>;
  creditorId: string;
  applicationIds: string[];
}

export async function prepareApart(world: BenchPlatform, applications: number): Promise<Apart> {
  const { adminUrl, tenants } = world;
  const databaseUrls = await prepareDatabases(adminUrl, makeSecrets(), '_apart');
  const toUrl = databaseUrls.decisions;
  const log = createLog('bench', { level: 'warn' });
  await migrate(toUrl, MIGRATIONS, log);
  const { told } = tenants;
  const fromUrl = world.databaseUrls.decisions;
  const applicationIds = await copySubmission({ fromUrl, toUrl }, told, applications);
  return { databaseUrls, creditorId: told.creditorId, applicationIds };
}

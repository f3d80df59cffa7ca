/** A second set of databases on the platform's PostgreSQL server, which no running service uses. */
import { decisions } from '@creditlane/decisions/service';
import { prepareDatabases } from '@creditlane/platform/databases';
import { makeSecrets } from '@creditlane/platform/secrets';
import type { DatabaseOwner } from '@creditlane/platform/services';
import { migrate } from '@creditlane/postgres/migrate';
import { createLog } from '@creditlane/runtime/telemetry/log';
import type { BenchPlatform } from '../platform/bench-platform.ts';
import { copySubmission } from './submissions.ts';

/** The decisions database has its tables, with submissions of a tenant that has a webhook destination. */
export interface SeparateDatabases {
  databaseUrls: Record<DatabaseOwner, string>;
  creditorId: string;
  applicationIds: string[];
}

export async function prepareSeparateDatabases(
  platform: BenchPlatform,
  applications: number,
): Promise<SeparateDatabases> {
  const databaseUrls = await prepareDatabases(platform.adminUrl, makeSecrets(), '_separate');
  const toUrl = databaseUrls.decisions;
  const log = createLog('bench', { level: 'warn' });
  await migrate(toUrl, [...decisions.database.migrations], log);
  const { withWebhook } = platform.tenants;
  const fromUrl = platform.databaseUrls.decisions;
  const applicationIds = await copySubmission({ fromUrl, toUrl }, withWebhook, applications);
  return { databaseUrls, creditorId: withWebhook.creditorId, applicationIds };
}

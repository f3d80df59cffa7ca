// The demo data of an installation, made once and kept in demo-records.json, and the webhook inbox for it.
import { join } from 'node:path';
import type { Secrets } from '@creditlane/platform/secrets';
import type { Process } from '@creditlane/runtime/run';
import { startWebhookInbox } from '@creditlane/webhook-inbox/webhook-inbox';
import { HOST } from '../host.ts';
import { readJson, writeJson } from '../json-file.ts';
import type { Platform } from '../platform.ts';
import type { Ports } from '../ports.ts';
import { step } from '../progress.ts';
import {
  type ApiAccess,
  type CompleteRecords,
  type Demo,
  type DemoApplications,
  type DemoRecords,
  demoOf,
  knownSecrets,
  seedDemoData,
  setDemoDestination,
  withNewSecret,
} from './demo.ts';
import { makeDemoApplications } from './demo-applications.ts';
import { makeDemoCallers } from './demo-callers.ts';

/** Makes the demo data in a running platform, unless the data directory has it. */
export type SeedDemoData = (platform: Platform) => Promise<Demo>;

/**
 * Starts the webhook inbox, before the platform: webhooks that are due at its start would otherwise fail
 * and wait for their next attempt. Resolves to the function that makes the demo data, once for each data
 * directory.
 */
export async function openDemoData(
  { dir, ports, secrets }: { dir: string; ports: Ports; secrets: Secrets },
  process: Process,
): Promise<SeedDemoData> {
  const file = recordsFile(dir);
  let records = await readJson<DemoRecords & Partial<CompleteRecords>>(file);
  const inbox = await startWebhookInbox({
    host: HOST,
    port: ports.inbox,
    secrets: () => (records === undefined ? [] : knownSecrets(records)),
    async addSecret(secret) {
      if (records === undefined) return;
      records = withNewSecret(records, secret);
      await writeJson(file, records);
    },
    dataFile: join(dir, 'inbox.jsonl'),
    log: process.log,
  });
  process.closers.add('inbox', inbox.close);

  const seeded = async (platform: Platform): Promise<Demo> => {
    const { platformKey } = secrets;
    const access = { baseUrl: platform.baseUrl, platformKey, inboxUrl: inbox.url };
    if (records === undefined) {
      records = await seedNewRecords(access, platform);
      await writeJson(file, records);
      await platform.settled();
    } else if (records.inboxUrl !== inbox.url) {
      // Only when the inbox has another address: a destination that a user has set stays.
      const secret = await setDemoDestination(access, records.integrationId);
      const known = secret === '' ? records : withNewSecret(records, secret);
      records = { ...known, inboxUrl: inbox.url };
      await writeJson(file, records);
    }
    let { users, keyWithoutChat, applications } = records;
    if (users === undefined || keyWithoutChat === undefined) {
      ({ users, keyWithoutChat } = await makeDemoCallers(access, records));
      records = { ...records, users, keyWithoutChat };
      await writeJson(file, records);
    }
    if (applications === undefined) {
      // Of an earlier version's data, the key may be revoked and the user inactive: these two are new.
      const submitter = { ...records, key: keyWithoutChat, retailerUserId: users.group };
      applications = await makeDemoApplications(access, submitter);
      records = { ...records, applications };
      await writeJson(file, records);
    }
    const complete = { ...records, users, keyWithoutChat, applications };
    return demoOf(complete, { ...access, opsUrl: platform.opsUrl });
  };
  return (platform) => step('Making the demo data', () => seeded(platform));
}

/**
 * The records of a new data directory. The further applications are made, and their events handled, before
 * there is a destination: the inbox begins with the webhook of the first application.
 */
async function seedNewRecords(
  access: ApiAccess,
  platform: Platform,
): Promise<DemoRecords & { applications?: DemoApplications }> {
  let applications: DemoApplications | undefined;
  const records = await seedDemoData(access, async (tenant) => {
    applications = await makeDemoApplications(access, tenant);
    await platform.settled();
  });
  return { ...records, ...(applications && { applications }) };
}

/** The port of the webhook inbox at the data directory's last start; undefined when there was none. */
export async function readFormerInboxPort(dir: string): Promise<number | undefined> {
  const records = await readJson<DemoRecords>(recordsFile(dir)).catch((error: unknown) => {
    // A damaged file is reported by the start itself, or deleted by `--reset`.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  });
  return records && Number(new URL(records.inboxUrl).port);
}

function recordsFile(dir: string): string {
  return join(dir, 'demo-records.json');
}

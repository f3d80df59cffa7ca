// The demo data of an installation, made once and kept in demo-records.json, and the servers for it: the webhook
// inbox and the bureau simulator.
import { join } from 'node:path';
import {
  type BureauSimulator,
  startBureauSimulator,
} from '@creditlane/bureau-simulator/bureau-simulator';
import type { Secrets } from '@creditlane/platform/secrets';
import type { Process } from '@creditlane/runtime/run';
import { startWebhookInbox } from '@creditlane/webhook-inbox/webhook-inbox';
import { HOST } from '../host.ts';
import { readDataFile, readJson, writeJson } from '../json-file.ts';
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
import { makeDemoApplicant, setDemoCredentials } from './demo-bureaus.ts';
import { makeDemoCallers } from './demo-callers.ts';

/** Makes the demo data in a running platform, unless the data directory has it. */
export type SeedDemoData = (platform: Platform) => Promise<Demo>;

type KeptRecords = DemoRecords & Partial<CompleteRecords>;

/**
 * Starts the webhook inbox and the bureau simulator, before the platform: webhooks and inquiries that are due
 * at its start would otherwise fail. Resolves to the function that makes the demo data, once for each data
 * directory.
 */
export async function openDemoData(
  { dir, ports, secrets }: { dir: string; ports: Ports; secrets: Secrets },
  process: Process,
): Promise<SeedDemoData> {
  const file = recordsFile(dir);
  let records = await readDataFile<KeptRecords>(file);
  let written: Promise<unknown> = Promise.resolve();
  const keep = async <Made extends Partial<KeptRecords>>(made: Made) => {
    records = { ...records, ...made } as KeptRecords;
    // One write at a time, because all use one draft file. Each call rejects with the error of its own write.
    written = written.catch(() => undefined).then(() => writeJson(file, records));
    await written;
    return made;
  };
  const addSecret = async (secret: string) => {
    if (records !== undefined) await keep(withNewSecret(records, secret));
  };
  const inbox = await startWebhookInbox({
    host: HOST,
    port: ports.inbox,
    secrets: () => (records === undefined ? [] : knownSecrets(records)),
    addSecret,
    dataFile: join(dir, 'inbox.jsonl'),
    log: process.log,
  });
  process.closers.add('inbox', inbox.close);
  const simulator = await startBureauSimulator({
    host: HOST,
    port: ports.simulator,
    log: process.log,
  });
  process.closers.add('bureau simulator', simulator.close);

  const seeded = async (platform: Platform): Promise<Demo> => {
    const { platformKey } = secrets;
    const access = { baseUrl: platform.baseUrl, platformKey, inboxUrl: inbox.url };
    if (records === undefined) {
      await keep(await seedNewRecords(access, platform));
      await platform.settled();
    }
    const made = await makeMissing(
      records as KeptRecords,
      { ...access, simulator },
      { keep, addSecret },
    );
    const complete = { ...(records as KeptRecords), ...made };
    return demoOf(complete, { ...access, opsUrl: platform.opsUrl });
  };
  return (platform) => step('Making the demo data', () => seeded(platform));
}

/** Writes records into the data directory, beside those that it has. */
interface RecordKeeper {
  keep<Made extends Partial<KeptRecords>>(made: Made): Promise<Made>;
  addSecret(secret: string): Promise<void>;
}

/** Makes what records of an earlier version lack. Keeps each part as soon as it is made. */
async function makeMissing(
  records: KeptRecords,
  access: ApiAccess & { simulator: BureauSimulator },
  { keep, addSecret }: RecordKeeper,
): Promise<Omit<CompleteRecords, keyof DemoRecords>> {
  if (records.inboxUrl !== access.inboxUrl) {
    // Only when the inbox has another address: a destination that a user has set stays.
    const secret = await setDemoDestination(access, records.integrationId);
    if (secret !== '') await addSecret(secret);
    await keep({ inboxUrl: access.inboxUrl });
  }
  const { url: simulatorUrl } = access.simulator;
  if (records.simulatorUrl !== simulatorUrl) {
    // While the simulator keeps its address, credentials that a user has set stay, too.
    const retailerIds = [records.retailerId, records.otherTenant.retailerId];
    await setDemoCredentials(access, access.simulator, retailerIds);
    await keep({ simulatorUrl });
  }
  let { users, keyWithoutChat, applications, creditFile } = records;
  if (users === undefined || keyWithoutChat === undefined) {
    ({ users, keyWithoutChat } = await keep(await makeDemoCallers(access, records)));
  }
  // Of an earlier version's data, the key may be revoked and the user inactive: these two are new.
  const submitter = { ...records, key: keyWithoutChat, retailerUserId: users.group };
  if (applications === undefined) {
    applications = await makeDemoApplications(access, submitter);
    await keep({ applications });
  }
  if (creditFile === undefined) {
    creditFile = await makeDemoApplicant(access, submitter);
    await keep({ creditFile });
  }
  return { users, keyWithoutChat, applications, creditFile, simulatorUrl };
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
  // A file that is damaged or cannot be read is reported by the start itself, or deleted by `--reset`.
  const records = await readJson<DemoRecords>(recordsFile(dir)).catch(() => undefined);
  return records && Number(new URL(records.inboxUrl).port);
}

function recordsFile(dir: string): string {
  return join(dir, 'demo-records.json');
}

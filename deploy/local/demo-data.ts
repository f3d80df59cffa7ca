import { join } from 'node:path';
import type { Process } from '@creditlane/runtime/run';
import { startInbox } from '@creditlane/webhook-inbox/inbox';
import { type Demo, type DemoRecords, seedDemoData, setDemoDestination } from './demo.ts';
import { HOST } from './host.ts';
import type { Installation } from './installation.ts';
import { readJson, writeJson } from './json-file.ts';
import type { Platform } from './platform.ts';
import { step } from './progress.ts';

/** Makes of a running platform what a newcomer plays with. */
export type SeedDemoData = (platform: Platform) => Promise<Demo>;

/**
 * Opens the webhook inbox, so that a platform which starts with webhooks to send finds it there and not
 * their next attempt a while later. What it resolves to sees that the data to play with is there; made
 * once, then kept.
 */
export async function openDemoData(
  installation: Installation,
  process: Process,
): Promise<SeedDemoData> {
  const { dir, ports, secrets } = installation;
  const file = join(dir, 'demo-records.json');
  let records = await readJson<DemoRecords>(file);
  const inbox = await startInbox({
    host: HOST,
    port: ports.inbox,
    secrets: () => (records === undefined ? [] : [records.webhookSecret]),
    dataFile: join(dir, 'inbox.jsonl'),
    log: process.log,
  });
  process.closers.add('inbox', inbox.close);

  const seeded = async (platform: Platform): Promise<Demo> => {
    const { platformKey } = secrets;
    const door = { baseUrl: platform.baseUrl, platformKey, inboxUrl: inbox.url };
    if (records === undefined) {
      records = await seedDemoData(door);
      await writeJson(file, records);
      await platform.settled();
    } else if (records.inboxUrl !== inbox.url) {
      // Only when the inbox has moved: where somebody else aimed the webhooks, they stay aimed.
      await setDemoDestination(door, records.integrationId);
      await writeJson(file, { ...records, inboxUrl: inbox.url });
    }
    const { key, ...rest } = records;
    return {
      baseUrl: platform.baseUrl,
      opsUrl: platform.opsUrl,
      keys: { integration: key, platform: platformKey },
      ...rest,
      inboxUrl: inbox.url,
    };
  };
  return (platform) => step('Making the demo data', () => seeded(platform));
}

import { join } from 'node:path';
import type { Process } from '@creditlane/runtime/run';
import { aimWebhooks, type Demo, type DemoRecords, furnish } from './demo.ts';
import type { Home } from './home.ts';
import { HOST } from './host.ts';
import type { House } from './house.ts';
import { startInbox } from './inbox.ts';
import { readJson, writeJson } from './json-file.ts';
import { step } from './progress.ts';

/** Makes of a running house what a newcomer plays with. */
export type Furnish = (house: House) => Promise<Demo>;

/**
 * Opens the webhook inbox, so that a house which starts with webhooks to send finds it there and not
 * their next attempt a while later. What it resolves to sees that the data to play with is there; made
 * once, then kept.
 */
export async function openDemonstration(home: Home, process: Process): Promise<Furnish> {
  const { dir, ports, secrets } = home;
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

  const furnished = async (house: House): Promise<Demo> => {
    const { platformKey } = secrets;
    const door = { baseUrl: house.baseUrl, platformKey, inboxUrl: inbox.url };
    if (records === undefined) {
      records = await furnish(door);
      await writeJson(file, records);
      await house.settled();
    } else if (records.inboxUrl !== inbox.url) {
      // Only when the inbox has moved: where somebody else aimed the webhooks, they stay aimed.
      await aimWebhooks(door, records.integrationId);
      await writeJson(file, { ...records, inboxUrl: inbox.url });
    }
    const { key, ...rest } = records;
    return {
      baseUrl: house.baseUrl,
      opsUrl: house.opsUrl,
      keys: { integration: key, platform: platformKey },
      ...rest,
      inboxUrl: inbox.url,
    };
  };
  return (house) => step('Making the demo data', () => furnished(house));
}

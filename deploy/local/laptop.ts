import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startEmbeddedPostgres, stopEmbeddedPostgres } from '@creditlane/postgres/embedded';
import type { Process } from '@creditlane/runtime/run';
import { announce } from './announcement.ts';
import { emptyDataDir, markDataDir, openDataDir } from './data-dir.ts';
import { prepareDatabases } from './databases.ts';
import { aimWebhooks, type Demo, type DemoRecords, furnish } from './demo.ts';
import { choosePorts, type Ports } from './free-ports.ts';
import { HOST } from './host.ts';
import { type House, startHouse } from './house.ts';
import { startInbox } from './inbox.ts';
import { lockInstance } from './instance-lock.ts';
import { readJson, writeJson } from './json-file.ts';
import type { Options } from './options.ts';
import { step } from './progress.ts';
import { openSecrets, type Secrets } from './secrets.ts';
import { explain } from './start-error.ts';

const say = (line: string) => void process.stdout.write(`${line}\n`);

/** Starts everything a newcomer needs and says what to try. Throws a `StartError` it can explain. */
export async function startLaptop(options: Options, process: Process): Promise<void> {
  try {
    const dir = await openDataDir(options.dataDir);
    const ports = await choosePorts(options.port, HOST);
    process.closers.add('instance lock', await lockInstance(dir));
    if (options.reset) await reset(dir);
    await markDataDir(dir);
    const demo = await open(dir, ports, process);
    process.closers.add('demo.json', () => rm(demoFile(dir), { force: true }));
    await writeJson(demoFile(dir), demo);
    say(announce(demo));
  } catch (error) {
    throw explain(error);
  }
}

async function open(dir: string, ports: Ports, process: Process): Promise<Demo> {
  // Whoever waits for demo.json waits for this start, not for one that was killed.
  await rm(demoFile(dir), { force: true });
  const secrets = await openSecrets(dir);
  const postgres = await step(say, 'Starting PostgreSQL', () =>
    startEmbeddedPostgres({
      dataDir: join(dir, 'postgres'),
      password: secrets.postgresPassword,
      log: process.log,
    }),
  );
  process.closers.add('PostgreSQL', postgres.close);
  const house = await step(say, 'Starting the services', async () => {
    const databaseUrls = await prepareDatabases(postgres.adminUrl, secrets);
    return startHouse({ secrets, databaseUrls, ports }, process);
  });
  return step(say, 'Making the demo data', () => openDemo(dir, ports, secrets, house, process));
}

async function openDemo(
  dir: string,
  ports: Ports,
  secrets: Secrets,
  house: House,
  process: Process,
): Promise<Demo> {
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
}

/** Empties the data directory, after the server that a killed process may have left on it. */
async function reset(dir: string): Promise<void> {
  await stopEmbeddedPostgres(join(dir, 'postgres'));
  await emptyDataDir(dir);
}

function demoFile(dir: string): string {
  return join(dir, 'demo.json');
}

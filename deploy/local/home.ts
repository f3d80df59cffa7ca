import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { stopEmbeddedKafka } from '@creditlane/events/embedded-kafka';
import { stopEmbeddedPostgres } from '@creditlane/postgres/embedded';
import { endAllMarked } from '@creditlane/runtime/process-mark';
import type { Process } from '@creditlane/runtime/run';
import { announce } from './announcement.ts';
import { emptyDataDir, markDataDir, openDataDir } from './data-dir.ts';
import { openDemonstration } from './demonstration.ts';
import { choosePorts, type Ports } from './free-ports.ts';
import { HOST } from './host.ts';
import type { House } from './house.ts';
import { lockInstance } from './instance-lock.ts';
import { writeJson } from './json-file.ts';
import type { Options } from './options.ts';
import { openSecrets, type Secrets } from './secrets.ts';
import { explain } from './start-error.ts';

/** A data directory that is ours for as long as this process lives. */
export interface Home {
  dir: string;
  /** Where processes are marked, for whoever comes after a `kill -9`. */
  marksDir: string;
  ports: Ports;
  secrets: Secrets;
}

/**
 * Runs a house on a data directory, with a webhook inbox and demo data, and says what to try. Throws a
 * `StartError` that explains.
 *
 * @param morePorts how many the house needs beyond the API's, the operations' and the inbox's
 */
export async function moveIn(
  options: Options,
  morePorts: number,
  process: Process,
  startHouse: (home: Home) => Promise<House>,
): Promise<void> {
  try {
    const home = await openHome(options, morePorts, process);
    const furnish = await openDemonstration(home, process);
    const house = await startHouse(home);
    const demo = await furnish(house);
    const file = demoFile(home.dir);
    process.closers.add('demo.json', () => rm(file, { force: true }));
    const publish = () => writeJson(file, { ...demo, services: house.services?.() });
    await publish();
    let published = Promise.resolve();
    house.onRestart?.(() => {
      published = published.then(publish).catch((err: unknown) => {
        process.log.error({ err }, 'demo.json could not be written');
      });
    });
    globalThis.process.stdout.write(`${announce(demo, house.services?.())}\n`);
  } catch (error) {
    throw explain(error);
  }
}

async function openHome(options: Options, morePorts: number, process: Process): Promise<Home> {
  const dir = await openDataDir(options.dataDir);
  const ports = await choosePorts(options.port, HOST, morePorts);
  process.closers.add('instance lock', await lockInstance(dir));
  await markDataDir(dir);
  await endLeftProcesses(dir);
  if (options.reset) {
    await emptyDataDir(dir);
    await markDataDir(dir);
  }
  // Whoever waits for demo.json waits for this start, not for one that was killed.
  await rm(demoFile(dir), { force: true });
  const marksDir = marksDirOf(dir);
  await mkdir(marksDir, { recursive: true });
  return { dir, marksDir, ports, secrets: await openSecrets(dir) };
}

/** Ends what a killed Creditlane may have left running on the data directory. */
export async function endLeftProcesses(dir: string): Promise<void> {
  await endAllMarked(marksDirOf(dir));
  await stopEmbeddedKafka(join(dir, 'kafka'));
  await stopEmbeddedPostgres(join(dir, 'postgres'));
}

function marksDirOf(dir: string): string {
  return join(dir, 'processes');
}

function demoFile(dir: string): string {
  return join(dir, 'demo.json');
}

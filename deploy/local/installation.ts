// An installation: runs a platform on a locked data directory, with ports, secrets and demo data.
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { stopEmbeddedKafka } from '@creditlane/embedded-kafka/embedded-kafka';
import { stopEmbeddedPostgres } from '@creditlane/embedded-postgres/embedded-postgres';
import type { Secrets } from '@creditlane/platform/secrets';
import { SERVICES } from '@creditlane/platform/services';
import type { Process } from '@creditlane/runtime/run';
import type { AnyService } from '@creditlane/service/define-service';
import { killFromPidFiles } from '@creditlane/supervision/pid-file';
import { emptyDataDir, isDataDir, markDataDir, openDataDir } from './data-dir.ts';
import { announce } from './demo/announcement.ts';
import { openDemoData, readFormerInboxPort } from './demo/demo-data.ts';
import { HOST } from './host.ts';
import { lockInstance } from './instance-lock.ts';
import { writeJson } from './json-file.ts';
import type { Options } from './options.ts';
import type { Platform } from './platform.ts';
import { choosePorts, type Ports } from './ports.ts';
import { openSecrets } from './secrets-file.ts';
import { explain } from './start-error.ts';

export interface InstallationOptions extends Options {
  /** The services of the platform; all of SERVICES when left out. */
  services?: readonly AnyService[];
}

/** A data directory, locked for as long as this process lives, with its ports and secrets. */
export interface Installation {
  services: readonly AnyService[];
  dir: string;
  /** The folder of the pid files, by which the next start finds what a killed launcher left running. */
  pidFilesDir: string;
  ports: Ports;
  secrets: Secrets;
}

/**
 * Runs a platform on a data directory, with a webhook inbox, a bureau simulator and demo data, and prints addresses, keys and
 * commands to try. Throws `StartError` when the user can mend the cause, and other errors unchanged.
 *
 * @param morePorts the number of ports beyond those of the API, of health and metrics, of the inbox, and of the simulator
 */
export async function runInstallation(
  options: InstallationOptions,
  morePorts: number,
  process: Process,
  startPlatform: (installation: Installation) => Promise<Platform>,
): Promise<void> {
  process.health.onDrain(() => print('Stopping; a second Ctrl-C ends everything at once …'));
  // Closers run in the reverse order, so this one is the last.
  process.closers.add('final message', async () => {
    if (process.health.isDraining) print('Creditlane has stopped.');
  });
  try {
    const installation = await openInstallation(options, morePorts, process);
    const seedDemoData = await openDemoData(installation, process);
    const platform = await startPlatform(installation);
    const demo = await seedDemoData(platform);
    const file = demoFile(installation.dir);
    process.closers.add('demo.json', () => rm(file, { force: true }));
    const publish = () => writeJson(file, { ...demo, services: platform.services?.() });
    await publish();
    let published = Promise.resolve();
    platform.onRestart?.(() => {
      published = published.then(publish).catch((err: unknown) => {
        process.log.error({ err }, 'demo.json could not be written');
      });
    });
    print(announce(demo, platform.services?.()));
  } catch (error) {
    throw explain(error);
  }
}

function print(text: string): void {
  globalThis.process.stdout.write(`${text}\n`);
}

async function openInstallation(
  options: InstallationOptions,
  morePorts: number,
  process: Process,
): Promise<Installation> {
  const dir = await openDataDir(options.dataDir, options);
  // Before the ports: another process on the data directory, or one that a killed launcher left running, may have them.
  process.closers.add('instance lock', await lockInstance(dir));
  await killLeftoverProcesses(dir);
  const ports = await choosePorts({
    first: options.port,
    host: HOST,
    services: morePorts,
    formerInbox: await readFormerInboxPort(dir),
  });
  if (options.reset) await emptyDataDir(dir);
  await markDataDir(dir);
  // A killed process leaves demo.json behind. Without the file, its readers wait for this start.
  await rm(demoFile(dir), { force: true });
  const pidFilesDir = pidFilesDirOf(dir);
  await mkdir(pidFilesDir, { recursive: true });
  const { services = SERVICES } = options;
  return { services, dir, pidFilesDir, ports, secrets: await openSecrets(dir, services) };
}

/**
 * Kills the processes that a killed launcher left running on a data directory, and resolves to their names. Kills none while
 * another process holds the instance lock, and throws `StartError`: that process started them, or kills them at its start. In a
 * directory that is no data directory it reads, makes and deletes nothing.
 */
export async function stopLeftoverProcesses(dir: string): Promise<string[]> {
  if (!isDataDir(dir)) return [];
  const release = await lockInstance(dir);
  try {
    return await killLeftoverProcesses(dir);
  } finally {
    await release();
  }
}

/** To be called by the holder of the instance lock. */
async function killLeftoverProcesses(dir: string): Promise<string[]> {
  if (!isDataDir(dir)) return [];
  const services = await killFromPidFiles(pidFilesDirOf(dir));
  const hadKafka = await stopEmbeddedKafka(join(dir, 'kafka'));
  const hadPostgres = await stopEmbeddedPostgres(join(dir, 'postgres'));
  return [...services, ...(hadKafka ? ['Kafka'] : []), ...(hadPostgres ? ['PostgreSQL'] : [])];
}

function pidFilesDirOf(dir: string): string {
  return join(dir, 'processes');
}

function demoFile(dir: string): string {
  return join(dir, 'demo.json');
}

/**
 * The classes of a broker as Java keeps them in memory: with this archive, a broker starts in half of the time. Java checks
 * that the archive was made by its own build from the same jars, and starts without it otherwise.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { findFreePorts } from '@creditlane/supervision/free-ports';
import { startBroker } from './broker.ts';
import { listenersOf, settingsOf } from './broker-settings.ts';

const run = promisify(execFile);

const HOST = '127.0.0.1';
/** Java writes the archive when the broker ends, in two seconds as a rule. */
const WRITTEN_WITHIN_MS = 120_000;

/**
 * The option for java that maps the archive of a class path. Makes the archive, next to the jars, if there is none of this
 * Java and of this path, which is part of what Java checks.
 */
export async function classArchiveOption(classpath: string): Promise<string> {
  const { stderr: build } = await run('java', ['-version']);
  const digest = createHash('sha256').update(`${classpath}\n${build}`).digest('hex');
  const archive = join(dirname(classpath), `broker-classes-${digest.slice(0, 12)}.jsa`);
  if (!existsSync(archive)) await makeArchive(classpath, archive);
  return `-XX:SharedArchiveFile=${archive}`;
}

/** Runs a broker of its own, from whose classes Java makes the archive. Throws `KafkaBrokerError` when it does not start. */
async function makeArchive(classpath: string, archive: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'creditlane-kafka-classes-'));
  // Renamed at the end: several processes make it at once, or are killed.
  const temporary = `${archive}.${process.pid}`;
  try {
    const ports = await findFreePorts(2);
    const broker = await startBroker({
      folder,
      classpath,
      classArchive: `-XX:ArchiveClassesAtExit=${temporary}`,
      clusterId: 'class-archive',
      properties: {
        ...settingsOf(0, HOST, ports),
        ...listenersOf('anyone', HOST, ports[0], ports[1]),
      },
      stopWithinMs: WRITTEN_WITHIN_MS,
    });
    await broker.stop('SIGTERM');
    // A Java that makes no archives starts without one, as with this empty file, and is not asked for one again.
    if (!existsSync(temporary)) await writeFile(temporary, '');
    await rename(temporary, archive);
  } finally {
    await rm(temporary, { force: true });
    await rm(folder, { recursive: true, force: true });
  }
}

/** The jars of a Kafka broker, in the versions that pom.xml pins, fetched once by Maven. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const POM = join(import.meta.dirname, 'pom.xml');
const CACHE = resolve(import.meta.dirname, '../../.cache');
const MIN_JAVA = 17;
/** 45 MB over the network; from Maven's own cache it takes seconds. */
const FETCH_WITHIN_MS = 300_000;

/** Kafka cannot run on this machine: Java, Maven or the jars are missing. */
export class KafkaUnavailableError extends Error {
  override name = 'KafkaUnavailableError';
  readonly loggable = true;
}

/** Returns the class path for Kafka's programs. Throws `KafkaUnavailableError`. */
export async function kafkaClasspath(): Promise<string> {
  await assertJava();
  const digest = createHash('sha256')
    .update(await readFile(POM))
    .digest('hex');
  const folder = join(CACHE, `kafka-${digest.slice(0, 12)}`);
  if (!existsSync(folder)) await fetchJars(folder);
  return join(folder, '*');
}

async function assertJava(): Promise<void> {
  const { stderr } = await program('java', ['-version'], 30_000);
  const version = Number(/version "(\d+)/.exec(stderr)?.[1]);
  if (version >= MIN_JAVA) return;
  throw new KafkaUnavailableError(`Kafka needs Java ${MIN_JAVA} or later; this is ${version}.`);
}

/** Fetches into a temporary folder and renames it at the end: processes fetch at once, or are killed. */
async function fetchJars(folder: string): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  const temporary = await mkdtemp(`${folder}-`);
  try {
    const goal = ['dependency:copy-dependencies', `-DoutputDirectory=${temporary}`];
    await program('mvn', ['-q', '-B', '-f', POM, ...goal], FETCH_WITHIN_MS);
    await rename(temporary, folder);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    // Another process has fetched them meanwhile.
    if (!existsSync(folder)) throw error;
  }
}

async function program(name: string, args: string[], timeoutMs: number) {
  try {
    return await run(name, args, { timeout: timeoutMs });
  } catch (cause) {
    const missing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    const what = missing ? 'is not installed' : `failed (${name} ${args.join(' ')})`;
    throw new KafkaUnavailableError(`There is no Kafka: ${name} ${what}.`, { cause });
  }
}

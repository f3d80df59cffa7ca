/** The jars of a Kafka broker, fetched once by Maven as pom.xml beside this file pins them. */
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
/** 45 MB from a registry; from Maven's own cache it takes seconds. */
const FETCH_WITHIN_MS = 300_000;

/** There can be no Kafka on this machine: a program or its jars are not to be had. */
export class KafkaUnavailableError extends Error {
  override name = 'KafkaUnavailableError';
  readonly loggable = true;
}

/** The class path to start Kafka's programs with. Throws `KafkaUnavailableError`. */
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

/** Into a folder aside, moved when complete: several processes may fetch at once, or be killed. */
async function fetchJars(folder: string): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  const aside = await mkdtemp(`${folder}-`);
  try {
    const goal = ['dependency:copy-dependencies', `-DoutputDirectory=${aside}`];
    await program('mvn', ['-q', '-B', '-f', POM, ...goal], FETCH_WITHIN_MS);
    await rename(aside, folder);
  } catch (error) {
    await rm(aside, { recursive: true, force: true });
    // Another process was faster.
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

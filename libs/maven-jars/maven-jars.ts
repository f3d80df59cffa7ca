/**
 * The jars of Java programs for development and tests, in the versions that a pom.xml pins, fetched once by
 * Maven.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const CACHE = resolve(import.meta.dirname, '../../.cache');
const MIN_JAVA = 17;
/** Up to 45 MB over the network; from Maven's own cache it takes seconds. */
const FETCH_WITHIN_MS = 300_000;

/** A Java program cannot run on this machine: Java, Maven or the jars are missing. */
export class JarsUnavailableError extends Error {
  override name = 'JarsUnavailableError';
  readonly loggable = true;
}

export interface JavaProgram {
  /** For messages, and in lower case for the folder of the jars. */
  name: string;
  /** The path of the pom.xml whose dependencies are the program. */
  pom: string;
  /** The SHA-256 digests that jars must have, in hexadecimal digits, by the names of their files. */
  digests?: Readonly<Record<string, string>>;
}

/** Returns the class path of a program. Throws `JarsUnavailableError`. */
export async function fetchClasspath({ name, pom, digests = {} }: JavaProgram): Promise<string> {
  await assertJava(name);
  const pinned = sha256(await readFile(pom));
  const folder = join(CACHE, `${name.toLowerCase()}-${pinned.slice(0, 12)}`);
  if (!existsSync(folder)) await fetchJars(name, pom, digests, folder);
  return join(folder, '*');
}

async function assertJava(name: string): Promise<void> {
  const { stderr } = await runProgram(name, 'java', ['-version'], 30_000);
  const version = Number(/version "(\d+)/.exec(stderr)?.[1]);
  if (version >= MIN_JAVA) return;
  throw new JarsUnavailableError(`${name} needs Java ${MIN_JAVA} or later; this is ${version}.`);
}

/** Fetches into a temporary folder and renames it at the end: processes fetch at once, or are killed. */
async function fetchJars(
  name: string,
  pom: string,
  digests: Readonly<Record<string, string>>,
  folder: string,
): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  const temporary = await mkdtemp(`${folder}-`);
  try {
    const goal = ['dependency:copy-dependencies', `-DoutputDirectory=${temporary}`];
    await runProgram(name, 'mvn', ['-q', '-B', '-f', pom, ...goal], FETCH_WITHIN_MS);
    for (const [file, digest] of Object.entries(digests)) {
      if (sha256(await readFile(join(temporary, file))) === digest) continue;
      throw new JarsUnavailableError(`There is no ${name}: ${file} has not the pinned SHA-256.`);
    }
    await rename(temporary, folder);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    // Another process has fetched them meanwhile.
    if (!existsSync(folder)) throw error;
  }
}

async function runProgram(name: string, command: string, args: string[], timeoutMs: number) {
  try {
    return await run(command, args, { timeout: timeoutMs });
  } catch (cause) {
    const missing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    const what = missing
      ? 'is not installed. Java 17 or newer and Maven are needed'
      : `failed (${command} ${args.join(' ')})`;
    throw new JarsUnavailableError(`There is no ${name}: ${command} ${what}.`, { cause });
  }
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

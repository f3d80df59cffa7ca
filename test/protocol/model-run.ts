/** Runs the checks of one model in Alloy, and compares what each finds with what the model expects. */
import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fetchClasspath } from '@creditlane/maven-jars/maven-jars';

const RESULTS = resolve(import.meta.dirname, '../../.cache/protocol');
/** The native solver of the jar is several times faster than the one in Java, and exists for this platform. */
const SOLVER = process.platform === 'linux' && process.arch === 'x64' ? 'minisat' : 'sat4j';

/** A check as the model states it. */
export interface Check {
  readonly name: string;
  /** The bug that the check is to find; `undefined` when it is to find nothing. */
  readonly bug: string | undefined;
}

/** A check that has run. */
export interface CheckResult extends Check {
  readonly foundCounterexample: boolean;
  readonly seconds: number;
}

/** Fetches Alloy, once. Throws `JarsUnavailableError`. */
export function alloyClasspath(): Promise<string> {
  return fetchClasspath({
    name: 'Alloy',
    pom: join(import.meta.dirname, 'pom.xml'),
    digests: {
      'org.alloytools.alloy.dist-6.2.0.jar':
        '6037cbeee0e8423c1c468447ed10f5fcf2f2743a2ffc39cb1c81f2905c0fdb9d',
    },
  });
}

const CHECK = /^check (\w+) (for .*?) expect ([01])(?: \/\/ large: (for .*))?$/;

/** The checks of a model, in their order, and its text as Alloy gets it. */
function readChecks(text: string, large: boolean): { checks: Check[]; text: string } {
  const checks: Check[] = [];
  const lines = text.split('\n').map((line) => {
    if (!line.startsWith('check ')) return line;
    const [, name = '', scope, expected, largeScope = scope] = CHECK.exec(line) ?? [];
    const bug = /exactly 1 (\w+)/.exec(scope ?? '')?.[1];
    if ((bug === undefined ? '0' : '1') !== expected) {
      throw new Error(`"${line}" does not say which bug it finds, or that it finds none`);
    }
    checks.push({ name, bug });
    // Without its expectation, because Alloy ends at the first one that is not met.
    return `check ${name} ${large ? largeScope : scope}`;
  });
  return { checks, text: lines.join('\n') };
}

/**
 * Runs the checks of a model and calls `onResult` after each. Counterexamples are written as text to
 * .cache/protocol. Throws when Alloy ends before the last check.
 */
export async function runModel(
  classpath: string,
  file: string,
  { large }: { large: boolean },
  onResult: (result: CheckResult) => void,
): Promise<void> {
  const model = basename(file, '.als');
  const { checks, text } = readChecks(await readFile(file, 'utf8'), large);
  await mkdir(RESULTS, { recursive: true });
  const scoped = join(RESULTS, `${model}.als`);
  await writeFile(scoped, text);

  const machine = ['-XX:+UseSerialGC', '-Xss16m', '-cp', classpath];
  const output = ['-f', '-o', join(RESULTS, model), '-t', 'text'];
  const command = ['exec', '-s', SOLVER, ...output, '-c', '*', scoped];
  const alloy = spawn('java', [...machine, 'org.alloytools.alloy.core.infra.Alloy', ...command]);
  const ended = new Promise<void>((end, fail) => alloy.once('error', fail).once('close', end));

  let startedMs = performance.now();
  let ran = 0;
  const said: string[] = [];
  const read = (line: string) => {
    said.push(line);
    const [, index, found] = /^(\d+)\. check .*\b(UNSAT|SAT)\s*$/.exec(line) ?? [];
    const check = checks[Number(index)];
    if (check === undefined) return;
    const seconds = (performance.now() - startedMs) / 1_000;
    startedMs = performance.now();
    ran += 1;
    onResult({ ...check, foundCounterexample: found === 'SAT', seconds });
  };
  // Alloy reports its results on standard error.
  createInterface({ input: alloy.stdout }).on('line', read);
  createInterface({ input: alloy.stderr }).on('line', read);
  await ended;
  if (ran < checks.length) {
    throw new Error(`Alloy ran ${ran} of ${checks.length} checks of ${file}:\n${said.join('\n')}`);
  }
}

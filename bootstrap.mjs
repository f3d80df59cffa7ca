// @ts-check
// Starts every task of this repository: brings the dependencies in step with the lockfile, then
// runs the task under the pinned Node. Plain JavaScript, because the machine's Node may be older.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch } from './tasks/child.mjs';
import { installDependencies } from './tasks/dependencies.mjs';

const ROOT = fileURLToPath(new URL('.', import.meta.url));

/**
 * What `node bootstrap.mjs <task>` can run, and what it says about itself.
 * @type {Record<string, { file: string; about: string }>}
 */
const TASKS = {
  start: { file: 'deploy/local/main.ts', about: 'run the whole platform in one process' },
  up: { file: 'deploy/processes/up.ts', about: 'run every service as a process of its own' },
  down: { file: 'deploy/processes/down.ts', about: 'stop what "up" started' },
  secrets: {
    file: 'deploy/local/compose-secrets.ts',
    about: 'make the secrets that deploy/compose.yaml needs',
  },
  test: { file: 'tasks/test.ts', about: 'run every check and test, or those matching a pattern' },
  faults: { file: 'tasks/faults.ts', about: 'run the long form of the fault runs' },
  check: { file: 'tasks/check.ts', about: 'lint, format check and type check' },
  fix: { file: 'tasks/fix.ts', about: 'format the source and apply safe lint fixes' },
  generate: { file: 'tasks/generate.ts', about: 'generate the code of the contracts in proto/' },
  bench: { file: 'bench/main.ts', about: 'measure throughput, latency and CPU time' },
};

/** The tasks that stop their own children in order when they are told to end. */
const STOPS_ITS_OWN = new Set(['start', 'up']);

/** The pinned Node's binary, else this very Node when it is new enough, else undefined. */
function findNode() {
  const { platform, arch, execPath, versions } = process;
  for (const name of [`node-${platform}-${arch}`, `node-bin-${platform}-${arch}`]) {
    const binary = join(ROOT, 'node_modules', name, 'bin', 'node');
    if (existsSync(binary)) return binary;
  }
  return Number.parseInt(versions.node, 10) >= 24 ? execPath : undefined;
}

/** Says what went wrong in one line and gives the exit code of a failure. */
function refuse(/** @type {string} */ reason) {
  process.stderr.write(`creditlane: ${reason}\n`);
  return 1;
}

/** Does the task named by the arguments and gives its exit code. */
async function main(/** @type {string[]} */ [name = '', ...args]) {
  const task = Object.hasOwn(TASKS, name) ? TASKS[name] : undefined;
  if (!task) {
    const list = Object.entries(TASKS).map(([key, { about }]) => `  ${key.padEnd(10)}${about}\n`);
    process.stderr.write(`Usage: node bootstrap.mjs <task> [arguments]\n${list.join('')}`);
    return name === '' || name === '--help' ? 0 : refuse(`there is no task "${name}"`);
  }
  const failure = await installDependencies(ROOT);
  if (failure) return refuse(failure);
  const node = findNode();
  if (!node) return refuse(`Node 24 is needed; ${process.version} runs this and none is installed`);
  return launch(node, join(ROOT, task.file), args, ROOT, STOPS_ITS_OWN.has(name));
}

process.exitCode = await main(process.argv.slice(2));

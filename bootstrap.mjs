// @ts-check
// Runs the tasks of this repository: installs the dependencies when they do not match the lockfile, then
// runs the task under the pinned Node. Plain JavaScript, because the machine's own Node may be older.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch } from './tasks/child.mjs';
import { installDependencies } from './tasks/dependencies.mjs';

const ROOT = fileURLToPath(new URL('.', import.meta.url));

/**
 * The tasks of `node bootstrap.mjs <task>`, with their lines in the help text.
 * @type {Record<string, { file: string; about: string }>}
 */
const TASKS = {
  start: { file: 'deploy/local/main.ts', about: 'run the platform in one process' },
  up: { file: 'deploy/processes/up.ts', about: 'run the platform with one process per service' },
  down: { file: 'deploy/processes/down.ts', about: 'stop the processes that "up" started' },
  operate: {
    file: 'deploy/processes/operate.ts',
    about: "run an operator's command of a service beside a running platform",
  },
  secrets: {
    file: 'deploy/compose/secrets.ts',
    about: 'generate the missing secrets of deploy/compose.yaml',
  },
  test: {
    file: 'tasks/test.ts',
    about: 'run the checks and the tests, without the long ones, or the tests that match a pattern',
  },
  faults: { file: 'tasks/faults.ts', about: 'run the long form of the fault injection tests' },
  image: {
    file: 'tasks/image.ts',
    about:
      "make the image's file system without a container engine, and start every service from it",
  },
  compose: {
    file: 'test/compose/main.ts',
    about: "bring deploy/compose.yaml up by Docker's engine, as root on Linux",
  },
  cluster: {
    file: 'test/cluster/main.ts',
    about:
      'build the image and a Kubernetes cluster, and install the chart there, as root on Linux',
  },
  measured: {
    file: 'tasks/measured.ts',
    about: 'measure CPU times, latencies and memory against their limits, on a quiet machine',
  },
  restore: {
    file: 'tasks/restore.ts',
    about: 'lose all databases and Kafka under load, and restore them from a backup',
  },
  protocol: {
    file: 'test/protocol/main.ts',
    about: 'check the models of how events and webhooks are delivered',
  },
  fuzz: { file: 'tasks/fuzz.ts', about: 'send thousands of generated requests to each operation' },
  check: { file: 'tasks/check.ts', about: 'check lint rules, format, types and contracts' },
  fix: { file: 'tasks/fix.ts', about: 'format the source and apply safe lint fixes' },
  generate: {
    file: 'tasks/generate.ts',
    about:
      'generate what follows from contracts, manifests and OpenAPI: code, compose.yaml, chart, docs',
  },
  bench: { file: 'bench/main.ts', about: 'measure throughput, latency and CPU time' },
  'test-bench': {
    file: 'tasks/test-bench.ts',
    about: 'check that every benchmark runs and reports its figures',
  },
};

/** The tasks that stop their child processes themselves, in order, when they get a signal. */
const STOPS_OWN_CHILDREN = new Set(['start', 'up']);

/** The binary of the pinned Node, or of the running Node when it is new enough; otherwise undefined. */
function findNode() {
  const { platform, arch, execPath, versions } = process;
  for (const name of [`node-${platform}-${arch}`, `node-bin-${platform}-${arch}`]) {
    const binary = join(ROOT, 'node_modules', name, 'bin', 'node');
    if (existsSync(binary)) return binary;
  }
  return Number.parseInt(versions.node, 10) >= 24 ? execPath : undefined;
}

/** Prints one line about the error; returns the exit code of a failure. */
function printError(/** @type {string} */ reason) {
  process.stderr.write(`creditlane: ${reason}\n`);
  return 1;
}

/** Runs the task that the first argument names; returns its exit code. */
async function main(/** @type {string[]} */ [name = '', ...args]) {
  const task = Object.hasOwn(TASKS, name) ? TASKS[name] : undefined;
  if (!task) {
    const list = Object.entries(TASKS).map(([key, { about }]) => `  ${key.padEnd(12)}${about}\n`);
    process.stderr.write(`Usage: node bootstrap.mjs <task> [arguments]\n${list.join('')}`);
    return name === '' || name === '--help' ? 0 : printError(`unknown task "${name}"`);
  }
  const failure = await installDependencies(ROOT);
  if (failure) return printError(failure);
  const node = findNode();
  if (!node)
    return printError(
      `Node 24 is required, but it is not installed and this is ${process.version}`,
    );
  return launch(node, join(ROOT, task.file), args, ROOT, STOPS_OWN_CHILDREN.has(name));
}

process.exitCode = await main(process.argv.slice(2));

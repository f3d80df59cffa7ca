/** Runs end-to-end tests that need root and namespaces of their own, or says loudly why this machine cannot run them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { access, constants, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { createDataDir, removeDataDir } from '../platform/temporary-data-dir.ts';
import { run } from '../programs/run.ts';
import { makeControlGroups, removeControlGroups } from './control-groups.ts';
import { INPUTS_VARIABLE } from './inputs.ts';
import { timed } from './timed.ts';

const TEST_TASK = fileURLToPath(new URL('../../tasks/test.ts', import.meta.url));

/**
 * What the tests run in. Its first process ends with this one, and all others with the first. What containerd, runc and
 * the kubelet keep outside of their own folders ends with the namespace.
 */
const NAMESPACES = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
const EMPTY_FOLDERS = ['/run', '/var/lib', '/var/log'];
const MOUNT = `for it in ${EMPTY_FOLDERS.join(' ')}; do mount -t tmpfs tmpfs "$it"; done; "$@"; exit $?`;

export interface EndToEndTests<Inputs> {
  /** The folder below test/ that has the tests and their vitest.config.ts. */
  folder: string;
  /** For the message where the machine cannot run them, such as "ON A CLUSTER". */
  untested: string;
  /** The programs that must be installed. */
  programs: readonly string[];
  /** The names of the control groups within that of the run. */
  controlGroups?: readonly string[];
  /** Makes in the machine's network, where registries are reached, what `readInputs` gives the tests. */
  prepare(run: { dir: string; cgroup: string }): Promise<Inputs>;
}

/** Sets the exit code of this process. */
export async function runEndToEndTests<Inputs>(tests: EndToEndTests<Inputs>): Promise<void> {
  // The launcher passes these to the whole process group: what is in the namespaces ends, and this process cleans up behind it.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
  process.exitCode = await timed('the whole run', () => runOrRefuse(tests));
}

/** The reason why this machine cannot run the tests, or undefined. */
async function findObstacle(programs: readonly string[]): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'it needs Linux';
  if (process.arch !== 'x64') return 'some programs are fetched for x64 only';
  if (process.getuid?.() !== 0) return 'it needs root, for namespaces, mounts and firewall rules';
  const release = await readFile('/etc/os-release', 'utf8').catch(() => '');
  if (!(/^ID=debian$/m.test(release) && /^VERSION_ID="12"$/m.test(release)))
    return 'it unpacks the packages of Debian 12, whose libraries fit no other release';
  for (const program of programs) {
    const isThere = await run('sh', ['-c', `command -v ${program}`]).catch(() => '');
    if (isThere === '') return `${program} is not installed`;
  }
  if (!existsSync('/sys/fs/cgroup')) return 'there is no /sys/fs/cgroup';
  const canWrite = await access('/sys/fs/cgroup', constants.W_OK).catch(() => 'no');
  if (canWrite === 'no') return '/sys/fs/cgroup is read-only';
  const trial = ['--net', '--mount', 'ip', 'link', 'add', 'trial0', 'type', 'veth'];
  const refused = await run('unshare', trial).catch((error: Error) => error.message);
  return refused === ''
    ? undefined
    : `the kernel refuses a network namespace with interfaces: ${refused}`;
}

/** Resolves to the exit code. */
async function runOrRefuse<Inputs>(tests: EndToEndTests<Inputs>): Promise<number> {
  const { folder, untested, programs, controlGroups = [] } = tests;
  const obstacle = await findObstacle([...programs, 'unshare', 'ip']);
  if (obstacle !== undefined) {
    const line = '='.repeat(100);
    process.stdout.write(
      `${line}\nNOT TESTED ${untested}: ${obstacle}.\n${line}\n0 passed, 1 failed\n`,
    );
    return 1;
  }
  const dir = await createDataDir(folder);
  const cgroup = `/creditlane-${folder}-${process.pid}`;
  try {
    await makeControlGroups([cgroup, ...controlGroups.map((name) => `${cgroup}/${name}`)]);
    const inputs = await tests.prepare({ dir, cgroup });
    return await runInNamespaces(tests, inputs);
  } finally {
    await removeControlGroups(cgroup);
    if (process.env.KEEP_CLUSTER_LOGS === undefined) await removeDataDir(dir);
    else process.stdout.write(`logs: ${dir}\n`);
  }
}

async function runInNamespaces<Inputs>({ folder }: EndToEndTests<Inputs>, inputs: Inputs) {
  const config = `test/${folder}/vitest.config.ts`;
  const test = [process.execPath, ...process.execArgv, TEST_TASK, '--config', config];
  const command = ['sh', '-c', MOUNT, 'sh', ...test, ...process.argv.slice(2)];
  const child = spawn('unshare', [...NAMESPACES, ...command], {
    env: { ...process.env, [INPUTS_VARIABLE]: JSON.stringify(inputs) },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [code] = await once(child, 'exit');
  return code ?? 1;
}

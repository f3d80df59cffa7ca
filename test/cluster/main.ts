// `npm run test:cluster`: builds a Kubernetes cluster and its images, and runs the proofs in namespaces of their own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { access, constants, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { createDataDir, removeDataDir } from '../platform/temporary-data-dir.ts';
import { CLUSTER_VARIABLE, type ClusterInputs } from './inputs.ts';
import { NODES } from './kubernetes/network.ts';
import { makeControlGroups, removeControlGroups } from './parts/control-groups.ts';
import { prepareImages } from './parts/images.ts';
import { prepareParts } from './parts/parts.ts';
import { run } from './parts/run.ts';
import { timed } from './parts/timed.ts';

const TEST_TASK = fileURLToPath(new URL('../../tasks/test.ts', import.meta.url));
const CONFIG = 'test/cluster/vitest.config.ts';

/**
 * What the proofs run in. Its first process ends with this one, and all others with the first. What containerd, runc and
 * the kubelet keep outside of their own folders ends with the namespace.
 */
const NAMESPACES = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
const EMPTY_FOLDERS = ['/run', '/var/lib', '/var/log'];
const MOUNT = `for it in ${EMPTY_FOLDERS.join(' ')}; do mount -t tmpfs tmpfs "$it"; done; "$@"; exit $?`;

/** The reason why this machine cannot run the cluster, or undefined. */
async function findObstacle(): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'it needs Linux';
  if (process.arch !== 'x64') return 'kubectl and helm are fetched for x64 only';
  if (process.getuid?.() !== 0) return 'it needs root, for namespaces, mounts and firewall rules';
  const release = await readFile('/etc/os-release', 'utf8').catch(() => '');
  if (!(/^ID=debian$/m.test(release) && /^VERSION_ID="12"$/m.test(release)))
    return 'it unpacks the packages of Debian 12, whose libraries fit no other release';
  for (const program of ['go', 'apt-get', 'unshare', 'ip', 'openssl', 'npm', 'curl']) {
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

/** Runs the proofs; resolves to the exit code. */
async function main(): Promise<number> {
  const obstacle = await findObstacle();
  if (obstacle !== undefined) {
    const line = '='.repeat(100);
    process.stdout.write(
      `${line}\nNOT TESTED ON A CLUSTER: ${obstacle}.\n${line}\n0 passed, 1 failed\n`,
    );
    return 1;
  }
  const dir = await createDataDir('cluster');
  const cgroup = `/creditlane-cluster-${process.pid}`;
  await makeControlGroups([cgroup, ...NODES.map(({ name }) => `${cgroup}/${name}`)]);
  try {
    const parts = await timed('programs', prepareParts);
    const imageFiles = await timed('images', () => prepareImages(parts, { dir, cgroup }));
    const inputs: ClusterInputs = { parts, imageFiles, dir, cgroup };
    const test = [process.execPath, ...process.execArgv, TEST_TASK, '--config', CONFIG];
    const command = ['sh', '-c', MOUNT, 'sh', ...test, ...process.argv.slice(2)];
    const child = spawn('unshare', [...NAMESPACES, ...command], {
      env: { ...process.env, [CLUSTER_VARIABLE]: JSON.stringify(inputs) },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    const [code] = await once(child, 'exit');
    return code ?? 1;
  } finally {
    await removeControlGroups(cgroup);
    if (process.env.KEEP_CLUSTER_LOGS === undefined) await removeDataDir(dir);
    else process.stdout.write(`logs: ${dir}/logs\n`);
  }
}

// The launcher passes these to the whole process group: what is in the namespaces ends, and this process cleans up behind it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
process.exitCode = await timed('the whole run', main);

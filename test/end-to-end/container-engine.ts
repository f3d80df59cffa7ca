/**
 * Docker's engine in a mount namespace of its own. For building images it has no network of its own and makes no firewall
 * rules; containers with networks need a network namespace, which the engine is started in.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../programs/run.ts';
import { Daemons } from './daemon.ts';
import type { DebianPrograms } from './debian-programs.ts';

export interface ContainerEngine {
  /** Where it listens, as the variable DOCKER_HOST says it. */
  host: string;
  /** Runs the command `docker`, and resolves to what it prints. */
  docker(args: readonly string[]): Promise<string>;
  close(): Promise<void>;
}

export interface EngineOptions {
  /** Later engines find the images and containers of earlier ones there. */
  dataDir: string;
  runDir: string;
  cgroup: string;
  /** Only for an engine in a network namespace: its firewall rules are for the whole namespace. */
  hasNetworks?: boolean;
}

/** Builds reach the registries by the network of the machine. */
const NO_NETWORK = [
  '--bridge=none',
  '--iptables=false',
  '--ip6tables=false',
  '--ip-forward=false',
  '--ip-masq=false',
];

/**
 * Starts the engine with its data in `dataDir` and its state in `runDir`. Throws an Error with the end of its log when it
 * does not start.
 */
export async function startContainerEngine(
  { root, env }: DebianPrograms,
  { dataDir, runDir, cgroup, hasNetworks = false }: EngineOptions,
): Promise<ContainerEngine> {
  await Promise.all([dataDir, runDir].map((folder) => mkdir(folder, { recursive: true })));
  const host = `unix://${runDir}/docker.sock`;
  const dockerd = [
    `--data-root=${dataDir}`,
    `--exec-root=${runDir}/exec`,
    `--pidfile=${runDir}/docker.pid`,
    `--host=${host}`,
    `--cgroup-parent=${cgroup}`,
    ...(hasNetworks ? [] : NO_NETWORK),
  ];
  // Its sockets and those of its containerd are in /run, which is another one in the namespace.
  const script = `mount -t tmpfs tmpfs /run && exec dockerd ${dockerd.join(' ')}`;
  const docker = (args: readonly string[]) =>
    run(join(root, 'usr/bin/docker'), ['--host', host, ...args], {
      env: { ...env, DOCKER_BUILDKIT: '1' },
    });
  const daemons = new Daemons(runDir);
  const close = () => daemons.stopAll();
  try {
    await daemons.start({
      name: 'dockerd',
      command: 'unshare',
      args: ['--mount', 'sh', '-c', script],
      env,
      isReady: () => docker(['version']).then(() => true),
    });
  } catch (error) {
    await close();
    throw error;
  }
  return { host, docker, close };
}

/** A node: its own containerd and kubelet. Several run side by side, with folders, addresses and ports of their own. */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { answersOk, type Daemons, flags } from '../../end-to-end/daemon.ts';
import type { DebianPrograms } from '../../end-to-end/debian-programs.ts';
import { run } from '../../programs/run.ts';
import { DNS_ADDRESS, type NodeAddresses, writePodNetwork } from './network.ts';

export interface NodeOptions {
  daemons: Daemons;
  /** The folder of the built programs. */
  programs: string;
  debian: DebianPrograms;
  credentials: string;
  /** The node's own folder. */
  dataDir: string;
  /** Files of `docker save`, with the images that pods may use. */
  imageFiles: readonly string[];
  cgroup: string;
  /** Where the kubelet answers whether it is healthy. */
  healthPort: number;
  addresses: NodeAddresses;
}

export const PAUSE_IMAGE = 'docker.io/creditlane/pause:1';

export async function startNode(options: NodeOptions): Promise<void> {
  const { debian, dataDir, imageFiles } = options;
  await mkdir(dataDir, { recursive: true });
  const socket = await startContainerd(options);
  for (const file of imageFiles) {
    const ctr = ['--address', socket, '--namespace', 'k8s.io', 'images', 'import', file];
    await run(join(debian.root, 'usr/bin/ctr'), ctr, { env: debian.env });
  }
  await startKubelet(options, socket);
}

/** Where the kubelet writes the files of a pod's volume, which the API does not show. `dataDir` is the folder of the node. */
export function volumeOf(dataDir: string, podUid: string, volume: string): string {
  return join(dataDir, 'kubelet/pods', podUid, 'volumes/kubernetes.io~projected', volume);
}

async function startContainerd(options: NodeOptions): Promise<string> {
  const { daemons, debian, dataDir, addresses } = options;
  const networks = join(dataDir, 'networks');
  await writePodNetwork(networks, addresses);
  const socket = join(dataDir, 'containerd.sock');
  const config = join(dataDir, 'containerd.toml');
  await writeFile(
    config,
    `version = 2
root = "${dataDir}/containerd"
state = "${dataDir}/containerd-state"
[grpc]
  address = "${socket}"
[plugins."io.containerd.internal.v1.opt"]
  path = "${dataDir}/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${PAUSE_IMAGE}"
  disable_apparmor = true
  # Some machines let no process, not even one of root, lower its score.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${debian.root}/usr/lib/cni"
    conf_dir = "${networks}"
`,
  );
  await daemons.start({
    name: `containerd-${addresses.name}`,
    command: join(debian.root, 'usr/bin/containerd'),
    args: ['--config', config],
    env: debian.env,
    isReady: async () => existsSync(socket),
  });
  return socket;
}

async function startKubelet(options: NodeOptions, socket: string): Promise<void> {
  const { daemons, programs, debian, credentials, dataDir, cgroup, healthPort } = options;
  const { name, address } = options.addresses;
  const resolvConf = join(dataDir, 'resolv.conf');
  await writeFile(resolvConf, 'nameserver 127.0.0.1\n');
  const config = join(dataDir, 'kubelet.json');
  await writeFile(
    config,
    JSON.stringify({
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      address,
      healthzPort: healthPort,
      // The API server and the metrics server are the only ones that reach it.
      authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
      authorization: { mode: 'AlwaysAllow' },
      containerRuntimeEndpoint: `unix://${socket}`,
      clusterDNS: [DNS_ADDRESS],
      clusterDomain: 'cluster.local',
      resolvConf,
      podLogsDir: join(dataDir, 'pod-logs'),
      cgroupDriver: 'cgroupfs',
      cgroupRoot: cgroup,
      failCgroupV1: false,
      failSwapOn: false,
      enforceNodeAllocatable: [],
      // Its file system statistics fail on some disks; only warnings follow.
      localStorageCapacityIsolation: false,
      imageGCHighThresholdPercent: 100,
      evictionHard: { 'memory.available': '1Mi' },
      // Secrets and configuration that have changed reach pods within seconds.
      syncFrequency: '5s',
      configMapAndSecretChangeDetectionStrategy: 'Watch',
    }),
  );
  await daemons.start({
    name: `kubelet-${name}`,
    command: join(programs, 'kubelet'),
    args: flags({
      config,
      kubeconfig: join(credentials, `${name}.kubeconfig`),
      'hostname-override': name,
      'node-ip': address,
      'root-dir': join(dataDir, 'kubelet'),
      'cert-dir': join(dataDir, 'certificates'),
    }),
    env: debian.env,
    isReady: () => answersOk(`http://127.0.0.1:${healthPort}/healthz`),
  });
}

/** A Kubernetes cluster of two nodes, in the network, mount and process namespace that this process runs in. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Daemons } from '../../end-to-end/daemon.ts';
import type { Parts } from '../parts/parts.ts';
import { startControlPlane } from './control-plane.ts';
import { makeCredentials } from './credentials.ts';
import { Kubectl } from './kubectl.ts';
import { NODES } from './network.ts';
import { startNode } from './node.ts';
import { startClusterServices } from './services.ts';

export interface Cluster {
  kubectl: Kubectl;
  /** For further programs beside the cluster, which end with it. */
  daemons: Daemons;
  close(): Promise<void>;
}

export interface ClusterOptions {
  parts: Parts;
  /** An empty folder. */
  dir: string;
  /** The control group of the whole run, in every hierarchy. */
  cgroup: string;
  imageFiles: readonly string[];
}

const FIRST_HEALTH_PORT = 10_348;

/** Needs the network of `setUpNetwork`. Resolves once both nodes are ready and names resolve. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { parts, dir, cgroup, imageFiles } = options;
  const { programs, debian } = parts;
  const [credentials, logs] = ['credentials', 'logs'].map((name) => join(dir, name)) as [
    string,
    string,
  ];
  await Promise.all([mkdir(credentials), mkdir(logs)]);
  const daemons = new Daemons(logs);
  const kubectl = new Kubectl({
    ...parts.clients,
    kubeconfig: join(credentials, 'administrator.kubeconfig'),
  });
  const close = () => daemons.stopAll();
  try {
    await makeCredentials(credentials);
    const common = { daemons, programs, debian, credentials, kubectl };
    const isApiReady = async () => (await kubectl.run('get', '--raw', '/readyz')) === 'ok';
    await startControlPlane({ ...common, dataDir: join(dir, 'etcd'), isApiReady });
    await Promise.all(
      NODES.map((addresses, index) =>
        startNode({
          ...common,
          addresses,
          imageFiles,
          dataDir: join(dir, addresses.name),
          cgroup: join(cgroup, addresses.name),
          healthPort: FIRST_HEALTH_PORT + index,
        }),
      ),
    );
    await startClusterServices({ ...common, dataDir: dir });
    await kubectl.run('wait', '--for=condition=Ready', 'node', '--all', '--timeout=120s');
    const dns = ['-n', 'kube-system', 'deployment/coredns'];
    await kubectl.run('rollout', 'status', '--timeout=120s', ...dns);
    return { kubectl, daemons, close };
  } catch (error) {
    await close();
    throw error;
  }
}

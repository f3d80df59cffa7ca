/** The network of the namespace that the cluster runs in: the addresses of the nodes, and what they forward. */
import { mkdir, writeFile } from 'node:fs/promises';
import { run } from '../parts/run.ts';

/** The address of the API server, and of what runs beside the cluster. */
export const HOST_ADDRESS = '10.240.0.1';
/** A part of 10.96.0.0/16, the network of the Services. */
export const DNS_ADDRESS = '10.96.0.10';
export const SERVICE_NETWORK = '10.96.0.0/16';

export interface NodeAddresses {
  name: string;
  address: string;
  podNetwork: string;
}

/** All nodes are in one network namespace: kube-proxy's rules and the routes to the pods are there for all of them. */
export const NODES: readonly NodeAddresses[] = [
  { name: 'first', address: '10.240.0.11', podNetwork: '10.244.1.0/24' },
  { name: 'second', address: '10.240.0.12', podNetwork: '10.244.2.0/24' },
];

/** Sets up the interfaces of an empty network namespace. */
export async function setUpNetwork(): Promise<void> {
  const ip = (...args: string[]) => run('ip', args);
  await ip('link', 'set', 'lo', 'up');
  await ip('link', 'add', 'node0', 'type', 'veth', 'peer', 'name', 'node1');
  for (const address of [HOST_ADDRESS, ...NODES.map(({ address }) => address)]) {
    await ip('address', 'add', `${address}/24`, 'dev', 'node0');
  }
  await ip('link', 'set', 'node0', 'up');
  await ip('link', 'set', 'node1', 'up');
  await ip('route', 'add', 'default', 'via', HOST_ADDRESS, 'dev', 'node0');
  await writeFile('/proc/sys/net/ipv4/ip_forward', '1');
}

/** Writes how containerd gives pods of a node their addresses: an interface each, with a route to it. */
export async function writePodNetwork(folder: string, { podNetwork }: NodeAddresses) {
  await mkdir(folder, { recursive: true });
  const plugins = [
    {
      type: 'ptp',
      ipMasq: true,
      ipam: {
        type: 'host-local',
        dataDir: `${folder}-leases`,
        ranges: [[{ subnet: podNetwork }]],
        routes: [{ dst: '0.0.0.0/0' }],
      },
    },
    { type: 'portmap', capabilities: { portMappings: true } },
  ];
  const config = { cniVersion: '0.4.0', name: 'pods', plugins };
  await writeFile(`${folder}/10-pods.conflist`, JSON.stringify(config));
}

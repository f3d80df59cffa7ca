/** The network of the namespace that the cluster runs in: the addresses of the nodes, and what they forward. */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { makeInterface } from '../../end-to-end/network-interface.ts';
import { run } from '../../programs/run.ts';

/** The address of the API server, and of what runs beside the cluster. */
export const HOST_ADDRESS = '10.240.0.1';
/**
 * An address of this machine outside of the private networks, for receivers of webhooks: the dispatcher refuses any
 * other. It is reached in the namespace only.
 */
export const PUBLIC_ADDRESS = '44.10.20.30';
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
  const ofNodes = [HOST_ADDRESS, ...NODES.map(({ address }) => address)];
  await makeInterface('node', [...ofNodes.map((it) => `${it}/24`), `${PUBLIC_ADDRESS}/32`]);
  await run('ip', ['route', 'add', 'default', 'via', HOST_ADDRESS, 'dev', 'node0']);
  await writeFile('/proc/sys/net/ipv4/ip_forward', '1');
  await refuseLookups();
}

/**
 * The resolver of the machine is not reached from the namespace: a broker that looks for the name of an address would wait for
 * 5 s. Nothing listens at this one, so a lookup fails at once.
 */
async function refuseLookups(): Promise<void> {
  const [machines, refusing] = ['/etc/resolv.conf', '/run/resolv.conf'] as const;
  await writeFile(refusing, 'nameserver 127.0.0.1\n');
  // Without the file, or where it links to one of the machine's /run, lookups fail at once, too.
  if (existsSync(machines)) await run('mount', ['--bind', refusing, machines]);
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

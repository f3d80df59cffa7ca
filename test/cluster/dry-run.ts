/** Sends what the chart renders to the API server, which checks each object as if it were made, and makes none. */
import { join } from 'node:path';
import { type Manifest, renderChart } from '../chart/helm.ts';
import type { Cluster } from './kubernetes/cluster.ts';
import type { Parts } from './parts/parts.ts';

const NAMESPACE = 'dry-run';
const CHART_VALUES = ['development', 'ci', 'production'] as const;
/** What no set of values has. */
const OTHERS = {
  ingress: { enabled: true, host: 'api.example.com', tlsSecret: 'api', className: 'public' },
  migrations: { by: 'hook' },
  databases: { enabled: true },
};

/** The objects of each set of values, by its name. */
export async function renderAll({ clients }: Parts): Promise<Map<string, Manifest[]>> {
  const render = (set: string, values = {}) =>
    renderChart(clients.helm, values, [`charts/creditlane/values/${set}.yaml`]);
  const sets = CHART_VALUES.map(async (set) => [set, await render(set)] as const);
  const others = render('production', OTHERS).then((it) => ['production, and others', it] as const);
  return new Map(await Promise.all([...sets, others]));
}

/** Defines the kinds of the operators, and the namespace, which refuses pods that are not restricted. */
export async function prepareDryRuns({ kubectl }: Cluster, { customResources }: Parts) {
  await kubectl.run('apply', '--server-side', '-f', customResources);
  const files = ['--for=condition=Established', '--timeout=60s', '-f', join(customResources, '.')];
  await kubectl.run('wait', ...files);
  const labels = Object.fromEntries(
    ['enforce', 'warn'].map((mode) => [`pod-security.kubernetes.io/${mode}`, 'restricted']),
  );
  const metadata = { name: NAMESPACE, labels };
  await kubectl.apply({ apiVersion: 'v1', kind: 'Namespace', metadata });
}

/** Rejects with the message of the API server when it refuses an object, or warns of one. */
export async function dryRun({ kubectl }: Cluster, objects: readonly object[]): Promise<void> {
  const options = ['--dry-run=server', '--validate=strict', '--warnings-as-errors'];
  await kubectl.create(objects, '--namespace', NAMESPACE, ...options);
}

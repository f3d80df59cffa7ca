// A real Kubernetes cluster: its nodes run pods, and have the images that were built.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readInputs } from './inputs.ts';
import { type Cluster, startCluster } from './kubernetes/cluster.ts';
import { timed } from './parts/timed.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await timed('the cluster', () => startCluster(readInputs()));
});
afterAll(() => cluster?.close());

test('the nodes run pods that have names and figures', async () => {
  const { items } = await cluster.kubectl.get('pods', '--all-namespaces');
  expect(items).toHaveLength(2);
  // The metrics server reads the nodes every ten seconds.
  await expect
    .poll(() => cluster.kubectl.run('top', 'nodes', '--no-headers').catch(() => ''))
    .toMatch(/first.*\n.*second/);
});

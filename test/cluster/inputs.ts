/** What the end-to-end tests get from outside of their namespaces, where the registries are reached. */
import type { ClusterOptions } from './kubernetes/cluster.ts';

export const CLUSTER_VARIABLE = 'CREDITLANE_CLUSTER';

export type ClusterInputs = ClusterOptions;

export function readInputs(): ClusterInputs {
  const text = process.env[CLUSTER_VARIABLE];
  if (text === undefined) throw new Error('the end-to-end tests are run by npm run test:cluster');
  return JSON.parse(text);
}

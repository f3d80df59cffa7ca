/** What the end-to-end tests get from outside of their namespaces, where the registries are reached. */
import type { ComposeParts } from './parts.ts';

export const COMPOSE_VARIABLE = 'CREDITLANE_COMPOSE';

export interface ComposeInputs {
  parts: ComposeParts;
  /** The data of Docker's engine, which has every image. */
  dataDir: string;
  /** An empty folder. */
  dir: string;
  cgroup: string;
}

export function readInputs(): ComposeInputs {
  const text = process.env[COMPOSE_VARIABLE];
  if (text === undefined) throw new Error('the end-to-end tests are run by npm run test:compose');
  return JSON.parse(text);
}

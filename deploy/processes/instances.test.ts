import { SERVICES } from '@creditlane/platform/services';
import { expect, test } from 'vitest';
import { addressesOf, planInstances, portsNeeded } from './instances.ts';

const ports = { api: 1, ops: 2, inbox: 3, simulator: 4 };

test('every service is one process, and the gateway takes the ports of the API', () => {
  const services = Array.from({ length: portsNeeded({}) }, (_, at) => 10 + at);
  const instances = planInstances({ ...ports, services }, {});
  expect(instances.map(({ name }) => name)).toEqual(SERVICES.map(({ name }) => name));
  expect(instances.at(-1)?.ports).toEqual({ http: 1, ops: 2 });
  const taken = instances.flatMap((it) => Object.values(it.ports));
  expect(taken.toSorted((a, b) => a - b)).toEqual([1, 2, ...services]);
});

test('replicas have names and ports of their own, and callers get the addresses of all', () => {
  const replicas = { decisions: 3 };
  const services = Array.from({ length: portsNeeded(replicas) }, (_, at) => 10 + at);
  const instances = planInstances({ ...ports, services }, replicas);
  const first = instances.findIndex(({ name }) => name === 'decisions');
  const decisions = instances.filter(({ service }) => service.name === 'decisions');
  expect(decisions.map(({ name }) => name)).toEqual(['decisions', 'decisions-2', 'decisions-3']);
  expect(addressesOf(instances).get('decisions')).toBe(
    [0, 1, 2].map((nth) => `127.0.0.1:${10 + 3 * (first + nth)}`).join(','),
  );
  expect(addressesOf(instances).has('gateway')).toBe(false);
});

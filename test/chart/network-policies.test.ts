// The network policies of the chart, compared with the manifests of the services.
import { PUBLIC_ADDRESS_BLOCKS } from '@creditlane/egress-rules/public-address';
import { SERVICES } from '@creditlane/platform/services';
import type { AnyService } from '@creditlane/service/define-service';
import { describe, expect, test } from 'vitest';
import { findHelm, type Manifest, renderChart } from './helm.ts';
import { byName, fileOf, nameOf, SETS } from './manifests.ts';

const services: readonly AnyService[] = SERVICES;
const helm = (await findHelm()) ?? '';

describe.skipIf(!helm).each(SETS)('with the values %s', (set) => {
  const render = () => renderChart(helm, {}, [fileOf(set)]);

  test('network policies permit what the manifests declare, and nothing else', async () => {
    const objects = await render();
    const policies = byName(objects, 'NetworkPolicy');
    const all = policies.get('test-creditlane');
    expect(all?.spec).toMatchObject({ policyTypes: ['Ingress', 'Egress'] });
    expect(all?.spec.ingress).toBeUndefined();
    expect(Object.keys(all?.spec.podSelector.matchLabels)).toEqual([
      'app.kubernetes.io/name',
      'app.kubernetes.io/instance',
    ]);
    for (const { spec } of policies.values()) {
      for (const rule of spec.egress) expect(rule.to.length * rule.ports.length).toBeGreaterThan(0);
    }
    const component = (peer: Peer) =>
      peer.podSelector?.matchLabels['app.kubernetes.io/component'] ?? '';
    for (const { name, calls = [], egressPorts, database, publishes, consumes } of services) {
      const { ingress, egress } = policyOf(objects, name);
      const called = egress.filter(({ ports }) => ports[0]?.port === 9000);
      expect(called.flatMap(({ to }) => to.map(component)).toSorted()).toEqual(calls.toSorted());
      const callers = services.filter((it) => it.calls?.includes(name)).map((it) => it.name);
      const admitted = ingress.filter(({ ports }) => ports[0]?.port === 'grpc');
      expect(admitted.flatMap(({ from = [] }) => from.map(component)).toSorted()).toEqual(
        callers.toSorted(),
      );
      const open = egress.filter(({ ports }) => ports.some(({ port }) => port === 443));
      expect(open).toHaveLength(egressPorts === undefined ? 0 : 1);
      const traces = set === 'production' ? 1 : 0;
      const kafka = publishes || consumes ? 1 : 0;
      const others = calls.length + open.length + (database ? 1 : 0) + kafka + traces;
      expect(egress).toHaveLength(others);
    }
  });

  test('webhook-dispatcher reaches public addresses only', async () => {
    const { egress } = policyOf(await render(), 'webhook-dispatcher');
    const open = egress.find(({ ports }) => ports.some(({ port }) => port === 443));
    expect(open?.ports.map(({ port }) => port)).toEqual([443, 8443]);
    expect(open?.to.map(({ ipBlock }) => ipBlock?.cidr)).toEqual(
      PUBLIC_ADDRESS_BLOCKS.map(({ cidr }) => cidr),
    );
    for (const [index, { except }] of PUBLIC_ADDRESS_BLOCKS.entries())
      expect(open?.to[index]?.ipBlock?.except).toEqual(expect.arrayContaining([...except]));
    const own = open?.to[0]?.ipBlock?.except?.includes('34.118.224.0/20');
    expect(own).toBe(set === 'production');
  });
});

interface Peer {
  podSelector?: { matchLabels: Record<string, string> };
  ipBlock?: { cidr: string; except?: string[] };
}

interface PolicySpec {
  ingress: { from?: Peer[]; ports: { port: string | number }[] }[];
  egress: { to: Peer[]; ports: { port: number }[] }[];
}

function policyOf(objects: Manifest[], service: string): PolicySpec {
  const policy = byName(objects, 'NetworkPolicy').get(nameOf(service));
  if (policy === undefined) throw new Error(`${service} has no network policy`);
  return policy.spec;
}

test.skipIf(!helm).each([
  ['pg.db.svc', 'db'],
  ['pg.db.svc.cluster.local', 'db'],
  ['pg-0.pg.db.svc.cluster.local', 'db'],
  ['pg.db.svc.svc.example', 'db'],
])('a database at %s is reached in the namespace %s', async (host, namespace) => {
  const objects = await renderChart(helm, { postgres: { host, peers: [] } }, [fileOf('ci')]);
  expect(JSON.stringify(policyOf(objects, 'decisions').egress)).toContain(
    `{"kubernetes.io/metadata.name":"${namespace}"}`,
  );
});

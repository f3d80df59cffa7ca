import { Health } from '@creditlane/runtime/health';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { afterAll, describe, expect, test } from 'vitest';
import { openApiDocument } from '../document/openapi-document.ts';
import { operationsOf } from '../document/operation.ts';
import type { Peer } from '../peers.ts';
import { startTestGateway } from '../test-gateway.ts';
import { OperationAvailability } from './operation-availability.ts';

const gateway = await startTestGateway({}, { calls: 'grpc' });
afterAll(gateway.close);

const OPERATIONS = operationsOf(openApiDocument());
const ALL = OPERATIONS.map(({ id }) => id);
const PEERS = [...new Set(OPERATIONS.flatMap(({ needs }) => needs))];

/** A gateway whose services are all away at first, on a clock that the test moves. */
function openAvailability() {
  const away = new Set<Peer>(PEERS);
  const clock = { nowMs: 5_000 };
  const [health, metrics] = [new Health(), new Metrics()];
  const { peers } = new OperationAvailability(OPERATIONS, { health, metrics }, () => clock.nowMs);
  for (const peer of PEERS) peers.add(peer, () => !away.has(peer) || 'out of reach');
  const readiness = () => health.ready();
  const setAway = (...gone: Peer[]) => {
    away.clear();
    for (const peer of gone) away.add(peer);
  };
  return { clock, metrics, readiness, setAway };
}

describe('a gateway', () => {
  test.each(PEERS)('that had all services stays ready without %s', (peer) => {
    const { readiness, setAway } = openAvailability();
    setAway();
    expect(readiness()).toMatchObject({ ready: true, degraded: false, unavailableOperations: [] });
    setAway(peer);
    const { ready, degraded, checks, unavailableOperations } = readiness();
    expect([ready, degraded, checks[peer]]).toEqual([true, true, 'out of reach']);
    const needing = OPERATIONS.filter(({ needs }) => needs.includes(peer)).map(({ id }) => id);
    expect(unavailableOperations).toEqual(needing);
    expect(needing.length).toBeGreaterThan(0);
    // Every operation needs this one.
    expect(needing.length === ALL.length).toBe(peer === 'integrations');
  });

  test('that can answer no operation is not ready', () => {
    const { clock, readiness, setAway } = openAvailability();
    clock.nowMs += 60_000;
    expect(readiness()).toMatchObject({ ready: false, unavailableOperations: ALL });
    setAway();
    expect(readiness().ready).toBe(true);
    setAway('integrations', 'credit-file');
    expect(readiness()).toMatchObject({ ready: false, unavailableOperations: ALL });
  });

  test('that starts without one service is ready once it has waited for that service', () => {
    const { clock, readiness, setAway } = openAvailability();
    setAway('decisions');
    expect(readiness()).toMatchObject({ ready: false, checks: { services: 'connecting' } });
    clock.nowMs += 10_000;
    expect(readiness().ready).toBe(true);
  });

  test('exports whether each operation is available', async () => {
    const { metrics, setAway } = openAvailability();
    setAway('conversations');
    const text = await metrics.text();
    expect(text).toContain('creditlane_operation_available{operation="getConversation"} 0');
    expect(text).toContain('creditlane_operation_available{operation="getDecision"} 1');
  });
});

test('while a service is away, only its operations are answered with 503 and Retry-After', async () => {
  const { health } = gateway.process;
  await expect.poll(() => health.ready()).toMatchObject({ ready: true, degraded: false });
  await gateway.closeService('conversations');
  await expect
    .poll(() => health.ready().unavailableOperations)
    .toEqual(['commentAsCreditor', 'commentAsRetailerUser', 'getConversation']);
  expect(health.ready()).toMatchObject({ ready: true, degraded: true });
  const conversation = gateway.decisionPath.replace(/decision$/, 'conversation');
  const refused = await gateway.send('GET', conversation);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  expect((await gateway.send('GET', gateway.decisionPath)).status).toBe(200);
});

// No caller, and nobody without a key, takes the place of another tenant's requests. Sent over TCP connections.
import { setTimeout as delay } from 'node:timers/promises';
import { generateApiKey } from '@creditlane/crypto/api-key';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startTestGateway } from '../test-gateway.ts';
import { openTestSocket, requestText, type TestSocket } from '../test-socket.ts';

const MAX_UNDER_WAY = 20;
const CONNECTIONS = 6;
const PIPELINED = 60;

let gateway: Awaited<ReturnType<typeof startTestGateway>>;
let sockets: TestSocket[];
beforeEach(async () => {
  gateway = await startTestGateway({ maxUnderWay: MAX_UNDER_WAY, accessCacheMs: 4_000 });
  sockets = [];
});
afterEach(async () => {
  for (const { socket } of sockets) socket.destroy();
  await gateway.close();
});

/** Makes each of the next `count` calls of a method take as long as calls to a database do. */
function slowDown(method: 'authenticate' | 'getDecision', count: number): void {
  for (let call = 0; call < count; call += 1) {
    gateway.services.gates[method].push(() => delay(5));
  }
}

function readText(key: string, more: readonly string[] = []): string {
  return requestText(`GET ${gateway.decisionPath}`, ['Host: g', `Authorization: ${key}`, ...more]);
}

/** Opens connections that each send the text. */
async function send(connections: number, text: () => string): Promise<TestSocket[]> {
  const opened = await Promise.all(
    Array.from({ length: connections }, () => openTestSocket(gateway.port, text())),
  );
  sockets.push(...opened);
  return opened;
}

const pipelined = (key: () => string) => () =>
  Array.from({ length: PIPELINED }, () => readText(key())).join('');

/** The statuses of the first tenant's requests, sent until the others' are answered, and at least 40. */
async function readWhile(isFlooded: () => boolean): Promise<Set<number>> {
  const statuses = new Set<number>();
  for (let count = 0; count < 40 || isFlooded(); count += 1) {
    statuses.add((await gateway.send('GET', gateway.decisionPath)).status);
  }
  return statuses;
}

const answered = (opened: TestSocket[]) => opened.flatMap(({ statuses }) => statuses());

describe('none of a tenant’s requests is refused', () => {
  test('while unknown keys are pipelined on six connections', async () => {
    expect((await gateway.send('GET', gateway.decisionPath)).status).toBe(200);
    slowDown('authenticate', CONNECTIONS * PIPELINED);
    const opened = await send(
      CONNECTIONS,
      pipelined(() => generateApiKey(true)),
    );
    const isFlooded = () => answered(opened).length < CONNECTIONS * PIPELINED;
    expect([...(await readWhile(isFlooded))]).toEqual([200]);
    expect(new Set(answered(opened))).toEqual(new Set([401]));
  });

  test('while another tenant pipelines requests on six connections', async () => {
    const key = gateway.services.issueGranted(gateway.ids.creditor);
    slowDown('getDecision', 10 * CONNECTIONS * PIPELINED);
    const opened = await send(
      CONNECTIONS,
      pipelined(() => key),
    );
    const isFlooded = () => answered(opened).length < CONNECTIONS * PIPELINED;
    expect([...(await readWhile(isFlooded))]).toEqual([200]);
    expect(new Set(answered(opened))).toEqual(new Set([200]));
  });

  test('while another tenant sends on more connections than may be under way, and is refused with 429', async () => {
    const key = gateway.services.issueGranted(gateway.ids.creditor);
    const release = Promise.withResolvers<void>();
    for (let call = 0; call < MAX_UNDER_WAY; call += 1) {
      gateway.services.gates.getDecision.push(() => release.promise);
    }
    try {
      const opened = await send(2 * MAX_UNDER_WAY, () => readText(key));
      const refused = 2 * MAX_UNDER_WAY - MAX_UNDER_WAY / 2;
      await expect.poll(() => answered(opened).length).toBe(refused);
      expect(new Set(answered(opened))).toEqual(new Set([429]));
      const example = opened.find(({ received }) => received() !== '')?.received() ?? '';
      expect(example).toContain('"code":"too_many_under_way"');
      expect(example).toMatch(/^Retry-After: 1\r$/m);
      // The calls that the gates still hold back belong to the other tenant.
      gateway.services.gates.getDecision.length = 0;
      expect([...(await readWhile(() => false))]).toEqual([200]);
      release.resolve();
      await expect.poll(() => answered(opened).filter((it) => it === 200).length).toBe(10);
    } finally {
      release.resolve();
    }
  });

  test('with its first request, while unknown keys come on two hundred connections', async () => {
    slowDown('authenticate', 1_000);
    const opened = await send(200, () => readText(generateApiKey(true)).repeat(2));
    expect((await gateway.send('GET', gateway.decisionPath)).status).toBe(200);
    await expect.poll(() => answered(opened).length).toBe(400);
    expect(new Set(answered(opened))).toEqual(new Set([401]));
  });
});

describe('requests pipelined on one connection', () => {
  test('are handled one after the other, and answered in order', async () => {
    const release = Promise.withResolvers<void>();
    gateway.services.gates.getDecision.push(() => release.promise);
    const body = JSON.stringify({ applicationId: gateway.ids.application, decision: 'BOOKED' });
    const head = ['Host: g', `Authorization: ${gateway.key}`];
    const post = [...head, 'Content-Type: application/json', `Content-Length: ${body.length}`];
    const { decisionPath } = gateway;
    const [one] = await send(1, () =>
      [
        requestText(`GET ${decisionPath}`, [...head, 'X-Request-Id: 1']),
        requestText(`POST ${decisionPath}`, [...post, 'X-Request-Id: 2'], body),
        requestText(`HEAD ${decisionPath}`, [...head, 'X-Request-Id: 3']),
        requestText(`POST ${decisionPath}`, [...post, 'X-Request-Id: 4', 'Expect: 100-continue']),
      ].join(''),
    );
    await expect.poll(() => gateway.services.called('getDecision')).toHaveLength(1);
    expect(gateway.services.called('recordDecision')).toHaveLength(0);
    release.resolve();
    await expect.poll(() => one?.received()).toContain('HTTP/1.1 100 Continue');
    one?.socket.write(body);
    await expect.poll(() => one?.statuses()).toEqual([200, 200, 200, 100, 200]);
    const ids = one?.received().matchAll(/^X-Request-Id: (\d)\r$/gm) ?? [];
    expect([...ids].map(([, id]) => id)).toEqual(['1', '2', '3', '4']);
  });

  test('that are too many close the connection, and are counted', async () => {
    const [one] = await send(1, () => readText(gateway.key).repeat(100));
    await one?.closed;
    expect(await gateway.process.metrics.text()).toContain(
      'creditlane_http_refusals_total{code="too_many_pipelined"} 1',
    );
    expect((await gateway.send('GET', gateway.decisionPath)).status).toBe(200);
  });
});

// What refused requests leave in the log and in the metrics.
import { generateApiKey } from '@creditlane/crypto/api-key';
import { newId } from '@creditlane/runtime/ids';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { startTestGateway } from '../test-gateway.ts';

const COUNT = 100;
const LINES_PER_SECOND = 5;

const gateway = await startTestGateway();
const limited = await startTestGateway({ rateLimit: { requests: 1, windowMs: 60_000 } });
const full = await startTestGateway({ maxUnderWay: 1 });
const gateways = [gateway, limited, full];
afterAll(() => Promise.all(gateways.map(({ close }) => close())));
beforeEach(() => {
  for (const { lines } of gateways) lines.length = 0;
});

type Gateway = typeof gateway;

/** Sends the request many times at once. Returns the lines about refusals with this code. */
async function refuseMany(
  from: Gateway,
  code: string,
  request: () => { key?: string; path?: string },
) {
  const startedMs = performance.now();
  const send = () => {
    const { path = from.decisionPath, ...more } = request();
    return from.send('GET', path, more);
  };
  const answers = await Promise.all(Array.from({ length: COUNT }, send));
  const seconds = Math.ceil((performance.now() - startedMs) / 1_000) + 1;
  const refused = answers.filter(({ json }) => json.code === code);
  const lines = from.lines.filter((line) => line.includes(`"code":"${code}"`));
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.length).toBeLessThanOrEqual(seconds * LINES_PER_SECOND);
  for (const line of lines) expect(line).not.toContain('stack');
  expect(await from.process.metrics.text()).toContain(
    `creditlane_http_refusals_total{code="${code}"} ${refused.length}`,
  );
  return refused;
}

test('a hundred unknown keys are counted, and write a few lines', async () => {
  const key = () => ({ key: generateApiKey(true) });
  expect(await refuseMany(gateway, 'key_rejected', key)).toHaveLength(COUNT);
});

test.each([
  { what: 'altered', code: 'link_invalid', search: '?expires=1772464745&signature=altered' },
  { what: 'incomplete', code: 'invalid_request', search: '?expires=1772464745' },
])('a hundred $what links are counted, and write a few lines', async ({ code, search }) => {
  const path = `/v1/credit-files/${newId()}/document${search}`;
  expect(await refuseMany(gateway, code, () => ({ path, key: '' }))).toHaveLength(COUNT);
});

test('a hundred requests over the rate limit are counted, and write a few lines', async () => {
  const refused = await refuseMany(limited, 'rate_limited', () => ({}));
  expect(refused).toHaveLength(COUNT - 1);
});

test('requests refused under overload are counted, and write a few lines without a stack trace', async () => {
  const entered = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  full.services.gates.getDecision.push(async () => {
    entered.resolve();
    await release.promise;
  });
  const first = full.send('GET', full.decisionPath);
  await entered.promise;
  try {
    expect(await refuseMany(full, 'overloaded', () => ({}))).toHaveLength(COUNT);
  } finally {
    release.resolve();
  }
  expect((await first).status).toBe(200);
});

test('a failure of the platform keeps its stack trace', async () => {
  gateway.services.failures.set('getDecision', () => new Error('a bug'));
  expect((await gateway.send('GET', gateway.decisionPath)).status).toBe(500);
  gateway.services.failures.clear();
  expect(gateway.lines.join('')).toContain('"stack"');
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWorld } from './test-world.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

let world: Awaited<ReturnType<typeof startWorld>>;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

test('the line about a request carries its id and the trace it came in', async () => {
  const traceparent = `00-${TRACE}-00f067aa0ba902b7-01`;
  const headers = { 'X-Request-Id': 'order-7781', traceparent };
  await world.send('GET', world.decisionPath, { headers });
  expect(lineOf('order-7781')).toMatchObject({ traceId: TRACE, operation: 'getDecision' });
});

test.each([undefined, 'nonsense', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`])(
  'a trace begins where the caller sends %s',
  async (traceparent) => {
    const headers = { 'X-Request-Id': 'order-7782', ...(traceparent && { traceparent }) };
    await world.send('GET', world.decisionPath, { headers });
    const { traceId } = lineOf('order-7782');
    expect(traceId).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
    expect(world.peers.calls.at(-1)?.call.traceparent).toContain(traceId);
  },
);

/** What was logged of the latest request with that id. */
function lineOf(requestId: string) {
  return JSON.parse(world.lines.findLast((line) => line.includes(requestId)) ?? '');
}

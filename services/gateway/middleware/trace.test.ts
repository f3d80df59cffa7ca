import { connect } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestGateway } from '../test-gateway.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

let gateway: Awaited<ReturnType<typeof startTestGateway>>;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.close());

test('the line about a request carries its id and the trace it came in', async () => {
  const traceparent = `00-${TRACE}-00f067aa0ba902b7-01`;
  const headers = { 'X-Request-Id': 'order-7781', traceparent };
  await gateway.send('GET', gateway.decisionPath, { headers });
  expect(lineOf('order-7781')).toMatchObject({ traceId: TRACE, operation: 'getDecision' });
});

test.each([undefined, 'nonsense', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`])(
  'a new trace begins when the caller sends the traceparent %s',
  async (traceparent) => {
    const headers = { 'X-Request-Id': 'order-7782', ...(traceparent && { traceparent }) };
    await gateway.send('GET', gateway.decisionPath, { headers });
    const { traceId } = lineOf('order-7782');
    expect(traceId).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
    expect(gateway.services.calls.at(-1)?.call.traceparent).toContain(traceId);
  },
);

const WELL_FORMED = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
const SPAN = '00f067aa0ba902b7';

test.each([
  { what: 'version 00 with a suffix', text: `00-${TRACE}-${SPAN}-01-é`, isKept: false },
  { what: 'version 00, 8,000 characters long', text: long('00'), isKept: false },
  { what: 'flags of three characters', text: `00-${TRACE}-${SPAN}-01x`, isKept: false },
  { what: 'a later version with a suffix', text: `cc-${TRACE}-${SPAN}-01-é`, isKept: true },
  { what: 'a later version, 8,000 characters long', text: long('cc'), isKept: true },
])(
  'with a traceparent of $what the request succeeds and a valid traceparent is passed on',
  async ({ text, isKept }) => {
    const answer = await sendRaw(`X-Request-Id: order-7783\r\ntraceparent: ${text}\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    const { traceId } = lineOf('order-7783');
    const passedOn = gateway.services.calls.at(-1)?.call.traceparent ?? '';
    expect(passedOn).toMatch(WELL_FORMED);
    expect(passedOn).toContain(traceId);
    expect(traceId === TRACE).toBe(isKept);
  },
);

function long(version: string): string {
  return `${version}-${TRACE}-${SPAN}-01-`.padEnd(8_000, 'x');
}

/** Sends a request over a socket, because HTTP clients refuse header values that are not ASCII. */
async function sendRaw(headers: string): Promise<string> {
  const socket = connect(gateway.port, '127.0.0.1');
  const head = `GET ${gateway.decisionPath} HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n`;
  socket.end(`${head}Authorization: ${gateway.key}\r\n${headers}\r\n`, 'utf8');
  return readText(socket);
}

/** What was logged of the latest request with that id. */
function lineOf(requestId: string) {
  return JSON.parse(gateway.lines.findLast((line) => line.includes(requestId)) ?? '');
}

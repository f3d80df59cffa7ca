// Bodies that are on the way do not fill the memory. Sent over TCP connections.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startTestGateway } from '../test-gateway.ts';
import { openTestSocket, requestText, type TestSocket } from '../test-socket.ts';

const LIMIT_BYTES = 32 * 1024 * 1024;
/** As large as a decision may be. */
const BODY_BYTES = 128 * 1024;
/** A caller alone gets half. */
const SHARE = LIMIT_BYTES / BODY_BYTES / 2;
const CONNECTIONS = 190;

let gateway: Awaited<ReturnType<typeof startTestGateway>>;
let sockets: TestSocket[];
beforeEach(async () => {
  gateway = await startTestGateway({ accessCacheMs: 4_000 });
  sockets = [];
});
afterEach(async () => {
  for (const { socket } of sockets) socket.destroy();
  await gateway.close();
});

const statuses = () => sockets.flatMap((one) => one.statuses());

/** Opens connections that each send a head and the start of a body. */
async function hold(framing: string, start: string): Promise<void> {
  const headers = ['Host: g', `Authorization: ${gateway.key}`, 'Content-Type: application/json'];
  const text = requestText(`POST ${gateway.decisionPath}`, [...headers, framing], start);
  const opened = Array.from({ length: CONNECTIONS }, () => openTestSocket(gateway.port, text));
  sockets = await Promise.all(opened);
}

async function bytesHeld(): Promise<number> {
  const [, bytes] =
    /creditlane_http_body_bytes_held (\d+)/.exec(await gateway.process.metrics.text()) ?? [];
  return Number(bytes);
}

test.each([
  { what: 'a declared length', framing: `Content-Length: ${BODY_BYTES}`, start: ' ' },
  {
    what: 'chunks',
    framing: 'Transfer-Encoding: chunked',
    start: `${(BODY_BYTES - 1).toString(16)}\r\n${' '.repeat(BODY_BYTES - 1)}\r\n`,
  },
])(
  '190 bodies of $what are refused above the caller’s share, and others are served',
  async (sent) => {
    const other = gateway.services.issueGranted(gateway.ids.creditor);
    await hold(sent.framing, sent.start);
    await expect.poll(() => statuses().length).toBe(CONNECTIONS - SHARE);
    expect(new Set(statuses())).toEqual(new Set([429]));
    const example = sockets.find(({ received }) => received() !== '')?.received();
    expect(example).toContain('"code":"too_many_bytes_under_way"');
    expect(example).toMatch(/^Retry-After: 1\r$/m);
    expect(await bytesHeld()).toBeGreaterThan(SHARE * (BODY_BYTES - 2));
    expect(await bytesHeld()).toBeLessThanOrEqual(SHARE * BODY_BYTES);

    const body = { applicationId: gateway.ids.application, decision: 'BOOKED' };
    const answer = await gateway.send('POST', gateway.decisionPath, { key: other, body });
    expect(answer.status).toBe(200);
    for (const { socket } of sockets) socket.destroy();
    await expect.poll(bytesHeld).toBe(0);
    expect((await gateway.send('POST', gateway.decisionPath, { body })).status).toBe(200);
  },
);

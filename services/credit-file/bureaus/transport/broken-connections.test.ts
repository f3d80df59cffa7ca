import { setImmediate } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect, test, vi } from 'vitest';
import {
  answer,
  bytes,
  bytesThen,
  FILE,
  inquiryOf,
  openTestClient,
  type Script,
  type ScriptedBureauOptions,
  startScriptedBureau,
  stopTime,
} from './test-scripted-bureau.ts';

const OK = 'HTTP/1.1 200 OK\r\n';
/** A request that does not arrive in one piece. */
const LONG = 'x'.repeat(1_000_000);
const LARGE = Buffer.alloc(9 * 1_024 * 1_024, 'x');

interface Break {
  point: string;
  bureau: ScriptedBureauOptions;
  reason: string;
  /** How many inquiries the bureau read in whole. */
  read: 0 | 1;
}

const BREAKS: Break[] = [
  ...(['close', 'reset'] as const).flatMap((end): Break[] => [
    {
      point: `${end} while the request is read`,
      bureau: {
        onFirstBytes: (socket) => (end === 'close' ? socket.destroy() : socket.resetAndDestroy()),
      },
      reason: 'connection_lost',
      read: 0,
    },
    {
      point: `${end} after the request`,
      bureau: { inquiry: [bytesThen('', end)] },
      reason: 'connection_lost',
      read: 1,
    },
    {
      point: `${end} within the head`,
      bureau: { inquiry: [bytesThen(`${OK}content-le`, end)] },
      reason: 'connection_lost',
      read: 1,
    },
    {
      point: `${end} after the head`,
      bureau: { inquiry: [bytesThen(`${OK}content-length: 7\r\n\r\n`, end)] },
      reason: 'connection_lost',
      read: 1,
    },
    {
      point: `${end} within a body of known length`,
      bureau: { inquiry: [bytesThen(`${OK}content-length: 7\r\n\r\n<fil`, end)] },
      reason: 'connection_lost',
      read: 1,
    },
    {
      point: `${end} within a body in chunks`,
      bureau: {
        inquiry: [bytesThen(`${OK}transfer-encoding: chunked\r\n\r\n7\r\n<file/>\r\n`, end)],
      },
      reason: 'connection_lost',
      read: 1,
    },
    {
      point: `${end} within a body that the connection’s end ends`,
      bureau: { inquiry: [bytesThen(`${OK}connection: close\r\n\r\n<fil`, end)] },
      reason: 'answer_incomplete',
      read: 1,
    },
  ]),
  {
    point: 'an answer that is no HTTP',
    bureau: { inquiry: [bytes('<file/>\r\n\r\n')] },
    reason: 'connection_lost',
    read: 1,
  },
  {
    point: 'a head that is too large',
    bureau: { inquiry: [bytes(`${OK}x: ${'x'.repeat(20_000)}\r\n\r\n`)] },
    reason: 'connection_lost',
    read: 1,
  },
  {
    point: 'an answer that is too large',
    bureau: { inquiry: [answer(LARGE)] },
    reason: 'answer_too_large',
    read: 1,
  },
  {
    point: 'an answer that is too large when decoded',
    bureau: { inquiry: [answer(gzipSync(LARGE), 200, ['content-encoding: gzip'])] },
    reason: 'answer_too_large',
    read: 1,
  },
];

/** undici uses a connection again in the turn after its answer at the earliest. */
async function turnIdle(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await setImmediate();
}

test.each(BREAKS)('$point → unknown, and no second inquiry', async ({ bureau, reason, read }) => {
  const { url, ...server } = await startScriptedBureau(bureau);
  const { client, metrics } = openTestClient();
  const outcome = await client.inquire(inquiryOf(LONG), { baseUrl: url });
  expect(outcome).toEqual({ kind: 'unknown', reason });
  expect(server.inquiries).toHaveLength(read);
  expect(await metrics.text()).toContain(
    `creditlane_bureau_inquiries_total{source="EQUIFAX",outcome="unknown",reason="${reason}"} 1`,
  );
});

test.each(['close', 'reset'] as const)(
  'a %s when the connection is open → never sent if no byte was written, or unknown',
  async (end) => {
    const bureau = await startScriptedBureau({
      onConnection: (socket) => (end === 'close' ? socket.destroy() : socket.resetAndDestroy()),
    });
    const { client } = openTestClient();
    const outcome = await client.inquire(inquiryOf(), { baseUrl: bureau.url });
    // Which of the two depends on whether the client has seen its own connection open.
    if (outcome.kind === 'unknown') expect(bureau.connections).toBe(1);
    else expect(outcome).toMatchObject({ kind: 'never_sent', reason: 'connection_failed' });
    expect(bureau.inquiries).toEqual([]);
  },
);

test.each([
  ['no answer', bytes('')],
  ['an answer that stops within the head', bytes(`${OK}content-le`)],
  ['an answer that stops within the body', bytes(`${OK}content-length: 7\r\n\r\n<fil`)],
])('%s by the deadline → unknown', async (_, script) => {
  const bureau = await startScriptedBureau({ inquiry: [script] });
  const { client } = openTestClient();
  stopTime();
  const running = client.inquire(inquiryOf(), { baseUrl: bureau.url });
  await expect.poll(() => bureau.inquiries.length).toBe(1);
  vi.advanceTimersByTime(20_000);
  expect(await running).toMatchObject({ kind: 'unknown', reason: 'deadline' });
  expect(bureau.connections).toBe(1);
});

test.each(['close', 'reset'] as const)(
  'an idle connection that the bureau ends by a %s → the next inquiry is sent once, by a new one',
  async (end) => {
    const bureau = await startScriptedBureau({});
    const { client } = openTestClient();
    for (const reference of ['first', 'second', 'third']) {
      const outcome = await client.inquire(inquiryOf(reference), { baseUrl: bureau.url });
      expect(outcome).toMatchObject({ kind: 'answered', answer: { kind: 'file' } });
      await turnIdle();
      // In the turn in which the next inquiry begins: undici has not read the end yet.
      for (const socket of bureau.sockets) {
        if (end === 'close') socket.destroy();
        else socket.resetAndDestroy();
      }
    }
    expect(bureau.inquiries).toHaveLength(3);
    expect(bureau.connections).toBe(3);
  },
);

test('inquiries one after the other use one connection', async () => {
  const bureau = await startScriptedBureau({});
  const { client } = openTestClient();
  for (const reference of ['first', 'second']) {
    await client.inquire(inquiryOf(reference), { baseUrl: bureau.url });
    await turnIdle();
  }
  expect(bureau.inquiries).toHaveLength(2);
  expect(bureau.connections).toBe(1);
});

test.each<[string, Script]>([
  [
    'after an interim answer',
    bytes(`HTTP/1.1 103 X\r\nx: y\r\n\r\n${OK}content-length: 7\r\n\r\n${FILE}`),
  ],
  ['that the connection’s end ends', bytesThen(`${OK}connection: close\r\n\r\n${FILE}`, 'close')],
])('a whole file %s → the file', async (_, script) => {
  const bureau = await startScriptedBureau({ inquiry: [script] });
  const { client } = openTestClient();
  const outcome = await client.inquire(inquiryOf(), { baseUrl: bureau.url });
  expect(outcome).toMatchObject({ kind: 'answered', answer: { kind: 'file' } });
});

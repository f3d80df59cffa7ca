// Answers that a client does not read do not fill the memory. Sent over TCP connections.
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { DeliveryState, Side } from '@creditlane/proto/conversations/v1/comment';
import { TIMEOUTS } from '@creditlane/runtime/http/limited-server';
import { newId } from '@creditlane/runtime/ids';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startTestGateway } from '../test-gateway.ts';
import { openTestSocket, requestText, type TestSocket } from '../test-socket.ts';

const LIMIT_BYTES = 64 * 1024 * 1024;
const COMMENTS = 100;
/** Each becomes six bytes of JSON. */
const CONTROL_CHARACTERS = '\u0001'.repeat(15_000);
const ANSWER_BYTES = COMMENTS * CONTROL_CHARACTERS.length * 6;
/** A caller alone is given an answer while all its answers are no more than what was left before. */
const SHARE = Math.floor((LIMIT_BYTES / ANSWER_BYTES + 1) / 2);
const CONNECTIONS = 12;

let gateway: Awaited<ReturnType<typeof startTestGateway>>;
let path: string;
let sockets: TestSocket[];
beforeEach(async () => {
  // A busy machine may take longer to make all answers than a request has, ten seconds, and than the fifteen seconds after which
  // an answer that is not read is cut off.
  const timeouts = { ...TIMEOUTS, unreadMs: 60_000 };
  const settings = { accessCacheMs: 4_000, timeouts, deadlineMs: 60_000 };
  gateway = await startTestGateway(settings);
  path = gateway.decisionPath.replace(/decision$/, 'conversation');
  sockets = [];
});
afterEach(async () => {
  for (const { socket } of sockets) socket.destroy();
  await gateway.close();
});

const metric = async (pattern: RegExp) =>
  Number(pattern.exec(await gateway.process.metrics.text())?.[1] ?? 0);
const bytesHeld = () => metric(/creditlane_http_answer_bytes_held (\d+)/);
const refused = () => metric(/http_refusals_total\{code="too_many_bytes_unread"\} (\d+)/);

function writeLargeComments(): void {
  for (let i = 0; i < COMMENTS; i += 1) {
    gateway.services.comments.push({
      id: newId(),
      side: Side.CREDITOR,
      author: { userName: 'Lena Roy', userId: gateway.ids.creditor },
      comment: CONTROL_CHARACTERS,
      createdAt: timestampFromDate(new Date('2026-03-02T15:04:05Z')),
      integrationId: gateway.ids.integration,
      delivery: { state: DeliveryState.QUEUED },
    });
  }
}

/** Opens connections that each ask for the conversation and read nothing. */
async function askWithoutReading(): Promise<void> {
  const text = requestText(`GET ${path}`, ['Host: g', `Authorization: ${gateway.key}`]);
  for (let i = 0; i < CONNECTIONS; i += 1) {
    const opened = await openTestSocket(gateway.port, text);
    opened.socket.pause();
    sockets.push(opened);
  }
}

test('large answers that are not read are limited to the caller’s share, and others are served', async () => {
  const other = gateway.services.issueGranted(gateway.ids.creditor);
  writeLargeComments();
  await askWithoutReading();
  await expect.poll(refused, { timeout: 40_000 }).toBe(CONNECTIONS - SHARE);
  expect(await bytesHeld()).toBeGreaterThan(SHARE * ANSWER_BYTES);
  expect(await bytesHeld()).toBeLessThanOrEqual((SHARE + 1) * ANSWER_BYTES);
  expect((await gateway.send('GET', gateway.decisionPath)).status).toBe(200);
  expect((await gateway.send('GET', path, { key: other })).status).toBe(200);

  for (const { socket } of sockets) socket.resume();
  const statuses = () => sockets.flatMap((one) => one.statuses());
  await expect.poll(() => statuses().length).toBe(CONNECTIONS);
  expect(statuses().filter((status) => status === 429)).toHaveLength(CONNECTIONS - SHARE);
  const received = sockets.map((one) => one.received());
  const example = received.find((text) => text.startsWith('HTTP/1.1 429'));
  expect(example).toContain('"code":"too_many_bytes_unread"');
  expect(example).toMatch(/^Retry-After: 1\r$/m);
  await expect.poll(bytesHeld).toBe(0);
});

test('the share of answers that are not read is free again when their connections close', async () => {
  writeLargeComments();
  await askWithoutReading();
  await expect.poll(refused, { timeout: 40_000 }).toBe(CONNECTIONS - SHARE);
  for (const { socket } of sockets) socket.destroy();
  await expect.poll(bytesHeld).toBe(0);
  const answer = await gateway.send('GET', path);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(answer.json.data).toHaveLength(COMMENTS);
});

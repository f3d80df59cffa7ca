import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { expect, test } from 'vitest';
import { answerBytesHeld, holdAnswer } from './answer.ts';

/** The bytes that an answer with this body counts as held. */
async function heldBytes(body: string): Promise<number> {
  const bytesHeld = answerBytesHeld(new Metrics());
  const res = new ServerResponse(new IncomingMessage(new Socket()));
  const ctx = { method: 'GET', body, res, state: { caller: { id: 'a' } } };
  await holdAnswer(bytesHeld)(ctx as never, async () => undefined);
  return bytesHeld.taken;
}

test('an answer of fewer than 64 Ki characters and more bytes counts as held, by its bytes', async () => {
  expect(await heldBytes('€'.repeat(22_000))).toBe(66_000);
});

test('an answer of fewer than 64 KiB does not count as held', async () => {
  expect(await heldBytes('a'.repeat(65_535))).toBe(0);
});

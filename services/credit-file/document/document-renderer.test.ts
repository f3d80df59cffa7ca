import { cancelled } from '@creditlane/rpc/fault';
import { createTestProcess } from '@creditlane/runtime/test-process';
import { afterAll, expect, test } from 'vitest';
import { DocumentRenderer } from './document-renderer.ts';
import { drawCreditFile } from './draw-credit-file.ts';
import { fileWithTrades, NO_HIT_FILE, WHOLE_FILE } from './test-credit-files.ts';

const LIMITS = { threads: 1, queued: 1, timeLimitMs: 60_000, maxBytes: 4_000_000 };
const process = createTestProcess('credit-file');
const { metrics } = process;
const renderer = new DocumentRenderer(process, LIMITS);
afterAll(() => renderer.close());

test('a thread renders the same bytes as a call, one document after the other', async () => {
  const documents = await Promise.all([renderer.render(WHOLE_FILE), renderer.render(WHOLE_FILE)]);
  const expected = await drawCreditFile(WHOLE_FILE);
  for (const document of documents) expect(Buffer.compare(document, expected)).toBe(0);
});

test('a document above the limit of the queue is refused, and the others are rendered', async () => {
  const first = renderer.render(NO_HIT_FILE);
  const second = renderer.render(NO_HIT_FILE);
  await expect(renderer.render(NO_HIT_FILE)).rejects.toMatchObject({ kind: 'unavailable' });
  await expect(Promise.all([first, second])).resolves.toHaveLength(2);
  expect(await metrics.text()).toContain('outcome="queue_full"');
});

test('a document whose caller has gone leaves its place in the queue', async () => {
  const caller = new AbortController();
  const first = renderer.render(fileWithTrades(200));
  const second = renderer.render(NO_HIT_FILE, caller.signal);
  caller.abort(cancelled());
  await expect(second).rejects.toMatchObject({ kind: 'cancelled' });
  const third = renderer.render(NO_HIT_FILE);
  await expect(Promise.all([first, third])).resolves.toHaveLength(2);
  expect(await metrics.text()).toContain('outcome="cancelled"');
});

test('a document above the time limit is refused', async () => {
  const limited = new DocumentRenderer(process, { ...LIMITS, timeLimitMs: 1 });
  await expect(limited.render(fileWithTrades(200))).rejects.toMatchObject({
    kind: 'unavailable',
  });
  await limited.close();
  expect(await metrics.text()).toContain('outcome="timed_out"');
});

test('a document that is larger than an answer may be is refused', async () => {
  const limited = new DocumentRenderer(process, { ...LIMITS, maxBytes: 1_000 });
  await expect(limited.render(NO_HIT_FILE)).rejects.toMatchObject({ code: 'document_too_large' });
  await limited.close();
  expect(await metrics.text()).toContain('outcome="too_large"');
});

test('a file that cannot be drawn fails alone', async () => {
  const broken = { trades: 5 } as unknown as typeof WHOLE_FILE;
  await expect(renderer.render(broken)).rejects.toThrow(TypeError);
  expect(await renderer.render(NO_HIT_FILE)).toBeInstanceOf(Uint8Array);
});

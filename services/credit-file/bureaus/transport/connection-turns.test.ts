// Inquiries that wait for their access token, or for one of the connections to their bureau.
import { describe, expect, test, vi } from 'vitest';
import {
  answer,
  FILE,
  inquiryOf,
  openTestClient,
  startScriptedBureau,
  stopTime,
  wordOf,
} from './test-scripted-bureau.ts';

describe('an inquiry that waits', () => {
  /** Asks whether `prepare` was called. */
  function watched(reference: string) {
    const inquiry = inquiryOf(reference);
    return { ...inquiry, prepare: vi.fn(inquiry.prepare) };
  }

  test('for a connection or its access token is prepared when it has both', async () => {
    const [asked, file] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const token = JSON.stringify({ access_token: 'abc', expires_in: 600 });
    const bureau = await startScriptedBureau({
      token: [(...args) => void asked.promise.then(() => answer(token)(...args))],
      inquiry: [(...args) => void file.promise.then(() => answer(FILE)(...args)), answer(FILE)],
    });
    const { client } = openTestClient({ maxConnections: 1 });
    const [first, second] = [watched('first'), watched('second')];
    const firstOutcome = client.inquire(first, { baseUrl: bureau.url, clientSecret: 'c2VjcmV0' });
    await expect.poll(() => bureau.tokenRequests.length).toBe(1);
    expect(first.prepare).not.toHaveBeenCalled();
    asked.resolve();
    await expect.poll(() => bureau.inquiries.length).toBe(1);
    const secondOutcome = client.inquire(second, { baseUrl: bureau.url });
    expect(second.prepare).not.toHaveBeenCalled();
    file.resolve();
    expect([wordOf(await firstOutcome), wordOf(await secondOutcome)]).toEqual(['file', 'file']);
  });

  test('goes out at once when it is prepared, although other credentials wait for their access token', async () => {
    const bureau = await startScriptedBureau({ token: [() => {}] });
    const { client } = openTestClient({ maxConnections: 1 });
    const waiting = client.inquire(inquiryOf(), { baseUrl: bureau.url, clientSecret: 'c2VjcmV0' });
    await expect.poll(() => bureau.tokenRequests.length).toBe(1);
    expect(wordOf(await client.inquire(inquiryOf(), { baseUrl: bureau.url }))).toBe('file');
    await client.close();
    expect(wordOf(await waiting)).toBe('stopping');
  });

  test('is not made when it may not be made any more, and leaves its turn to the next one', async () => {
    const bureau = await startScriptedBureau({});
    const { client, metrics } = openTestClient({ maxConnections: 1 });
    const prepare = async () => ({ instead: 'it is revoked' });
    const outcome = await client.inquire({ reference: 'a', prepare }, { baseUrl: bureau.url });
    expect(outcome).toEqual({ kind: 'withdrawn', instead: 'it is revoked' });
    expect(wordOf(await client.inquire(inquiryOf(), { baseUrl: bureau.url }))).toBe('file');
    expect(bureau.inquiries).toHaveLength(1);
    expect(await metrics.text()).not.toContain('withdrawn');
  });

  test('for a connection longer than half of the deadline is never sent', async () => {
    const bureau = await startScriptedBureau({ inquiry: [() => {}] });
    const { client } = openTestClient({ maxConnections: 1 });
    stopTime();
    const hanging = client.inquire(inquiryOf(), { baseUrl: bureau.url });
    await expect.poll(() => bureau.inquiries.length).toBe(1);
    const waiting = watched('waiting');
    const outcome = client.inquire(waiting, { baseUrl: bureau.url });
    vi.advanceTimersByTime(10_000);
    expect(wordOf(await outcome)).toBe('connections_busy');
    expect(waiting.prepare).not.toHaveBeenCalled();
    vi.advanceTimersByTime(10_000);
    expect(wordOf(await hanging)).toBe('deadline');
  });
});

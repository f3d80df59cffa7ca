import type { Dispatcher } from 'undici';
import { expect, test } from 'vitest';
import { Exchange } from './exchange.ts';

const LIMITS = { sendByMs: 10_000, endsAtMs: 20_000, maxAnswerBytes: 1_000 };
const REQUEST = { url: 'http://127.0.0.1/', headers: {}, body: 'x' };

/** undici, as far as an exchange sees it. */
function startExchange() {
  let nowMs = 0;
  const exchange = new Exchange(LIMITS, () => nowMs);
  let dispatched = 0;
  const dispatcher = { dispatch: () => (dispatched += 1) } as unknown as Dispatcher;
  const aborted: Error[] = [];
  const controller = { abort: (error: Error) => void aborted.push(error) } as never;
  return {
    exchange,
    aborted,
    controller,
    run: () => exchange.run(dispatcher, REQUEST),
    dispatched: () => dispatched,
    /** As after a suspension of the process: the time has passed, and no timer was called yet. */
    passTime: (ms: number) => {
      nowMs += ms;
    },
  };
}

test('a request that undici starts again is aborted before its bytes are written', async () => {
  const { exchange, aborted, controller, run } = startExchange();
  const ended = run();
  exchange.onRequestStart(controller);
  expect(aborted).toHaveLength(0);
  exchange.onRequestStart(controller);
  expect(aborted).toHaveLength(1);
  exchange.onResponseError(controller, new Error('aborted'));
  expect(await ended).toMatchObject({ kind: 'lost', reason: 'connection_lost' });
});

test('a request that has ended unsent is aborted when a connection takes it', async () => {
  const { exchange, aborted, controller, run } = startExchange();
  const ended = run();
  exchange.abortUnsent('stopping');
  exchange.onRequestStart(controller);
  expect(aborted).toHaveLength(1);
  expect(await ended).toMatchObject({ kind: 'unsent', error: { code: 'stopping' } });
});

test('a connection that takes a request after its time for sending → unsent, before the timer is called', async () => {
  const { exchange, aborted, controller, run, passTime } = startExchange();
  const ended = run();
  passTime(10_000);
  exchange.onRequestStart(controller);
  expect(aborted).toHaveLength(1);
  expect(await ended).toMatchObject({ kind: 'unsent', error: { code: 'deadline' } });
});

test('a request whose time for sending has passed is not dispatched', async () => {
  const { run, dispatched, passTime } = startExchange();
  passTime(10_000);
  expect(await run()).toMatchObject({ kind: 'unsent', error: { code: 'deadline' } });
  expect(dispatched()).toBe(0);
});

test('an exchange that has ended is not dispatched', async () => {
  const { exchange, run, dispatched } = startExchange();
  exchange.abort('stopping');
  expect(await run()).toMatchObject({ kind: 'unsent' });
  expect(dispatched()).toBe(0);
});

test.each([
  // An alert about a certificate that did not end the handshake of a new connection.
  'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
  'ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR',
  'ECONNRESET',
])('an error %s after the request was written → lost', async (code) => {
  const { exchange, controller, run } = startExchange();
  const ended = run();
  exchange.onRequestStart(controller);
  exchange.onResponseError(controller, Object.assign(new Error('ended'), { code }));
  expect(await ended).toMatchObject({ kind: 'lost', reason: 'connection_lost' });
});

import { type ChannelInterface, connectivityState } from '@grpc/grpc-js';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Connectivity } from './connectivity.ts';

const { READY, SHUTDOWN, TRANSIENT_FAILURE } = connectivityState;
const NO_LIMIT = Infinity;

/** A channel whose state the test sets. */
class TestChannel {
  state = READY;
  #changed: () => void = () => undefined;

  getConnectivityState() {
    return this.state;
  }

  watchConnectivityState(_state: connectivityState, _deadline: number, changed: () => void) {
    this.#changed = changed;
  }

  change(state: connectivityState) {
    this.state = state;
    this.#changed();
  }
}

let channel: TestChannel;
let connectivity: Connectivity;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  channel = new TestChannel();
  connectivity = new Connectivity(channel as unknown as ChannelInterface);
});
afterEach(() => void vi.useRealTimers());

/** Begins a call's wait, and tells whether it has ended. */
function wait(limitMs = NO_LIMIT, signal?: AbortSignal): { ended: boolean } {
  const call = { ended: false };
  void connectivity.returned(limitMs, signal).then(() => {
    call.ended = true;
  });
  return call;
}

test('a call waits three seconds for a peer that was lost, and later calls do not wait', async () => {
  channel.change(TRANSIENT_FAILURE);
  const call = wait();
  await vi.advanceTimersByTimeAsync(2_999);
  expect(call.ended).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(call.ended).toBe(true);
  const later = wait();
  await vi.advanceTimersByTimeAsync(0);
  expect(later.ended).toBe(true);
});

test('a call to a peer that was never connected does not wait', async () => {
  channel.state = TRANSIENT_FAILURE;
  connectivity = new Connectivity(channel as unknown as ChannelInterface);
  const call = wait();
  await vi.advanceTimersByTimeAsync(0);
  expect(call.ended).toBe(true);
});

test('a call that waits ends at once when it is aborted, at its own limit, and when the peer is back', async () => {
  channel.change(TRANSIENT_FAILURE);
  const abort = new AbortController();
  const [aborted, limited, other] = [wait(NO_LIMIT, abort.signal), wait(100), wait()];
  await vi.advanceTimersByTimeAsync(10);
  expect([aborted.ended, limited.ended, other.ended]).toEqual([false, false, false]);
  abort.abort();
  await vi.advanceTimersByTimeAsync(0);
  expect([aborted.ended, limited.ended, other.ended]).toEqual([true, false, false]);
  await vi.advanceTimersByTimeAsync(90);
  expect([limited.ended, other.ended]).toEqual([true, false]);
  channel.change(READY);
  await vi.advanceTimersByTimeAsync(0);
  expect(other.ended).toBe(true);
});

test('of more than a hundred calls that would wait, the others end at once', async () => {
  channel.change(TRANSIENT_FAILURE);
  const calls = Array.from({ length: 101 }, () => wait());
  await vi.advanceTimersByTimeAsync(0);
  expect(calls.filter(({ ended }) => ended)).toHaveLength(1);
});

test('when the channel is closed, calls that wait end at once, and no later call waits', async () => {
  channel.change(TRANSIENT_FAILURE);
  const call = wait();
  channel.change(SHUTDOWN);
  const later = wait();
  await vi.advanceTimersByTimeAsync(0);
  expect([call.ended, later.ended]).toEqual([true, true]);
});

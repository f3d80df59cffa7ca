/** Whether the peer of a gRPC channel is connected, and the wait for its return. */
import { WakeSignal } from '@creditlane/runtime/concurrency/wake-signal';
import { type ChannelInterface, connectivityState } from '@grpc/grpc-js';

/**
 * How long calls wait after no connection could be made to a peer that was connected. When the only replica that a client
 * knows stops, its successor is looked up and dialed, which takes longer than the retries of a call where all processors are busy.
 */
const RETURNS_WITHIN_MS = 3_000;
/** How many calls wait at most. Further ones fail at once, so that waiting requests leave the gateway room for others. */
const MAX_WAITING = 100;

export class Connectivity {
  readonly #channel: ChannelInterface;
  #isConnected = false;
  #lostMs = Number.NEGATIVE_INFINITY;
  #waiting = 0;
  readonly #changed = new WakeSignal();

  constructor(channel: ChannelInterface) {
    this.#channel = channel;
    this.#watch();
  }

  /** A peer that was connected counts as such until a connection attempt fails, also while a connection is renewed at its maximum age. */
  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** Whether the peer is connected, as above. Makes an idle channel connect. */
  isReachable(): boolean {
    this.#note(this.#channel.getConnectivityState(true));
    return this.#isConnected;
  }

  /**
   * Resolves at once, or where the peer was lost a moment ago, when it is back. Resolves, too, when it does not come back
   * in time, after `limitMs`, when the channel is closed, when `signal` aborts, and at once when many calls wait already.
   */
  async returned(limitMs: number, signal?: AbortSignal): Promise<void> {
    const endMs = performance.now() + limitMs;
    if (this.#waiting >= MAX_WAITING) return;
    this.#waiting += 1;
    try {
      while (!this.#isConnected && !signal?.aborted) {
        const leftMs = Math.min(this.#lostMs + RETURNS_WITHIN_MS, endMs) - performance.now();
        if (leftMs <= 0) return;
        await this.#changed.wait(leftMs, signal);
      }
    } finally {
      this.#waiting -= 1;
    }
  }

  #watch(): void {
    const state = this.#channel.getConnectivityState(false);
    this.#note(state);
    if (state === connectivityState.SHUTDOWN) return;
    this.#channel.watchConnectivityState(state, Infinity, () => this.#watch());
  }

  #note(state: connectivityState): void {
    if (state === connectivityState.READY) {
      this.#isConnected = true;
    } else if (state === connectivityState.TRANSIENT_FAILURE && this.#isConnected) {
      this.#isConnected = false;
      this.#lostMs = performance.now();
    } else if (state === connectivityState.SHUTDOWN) {
      this.#isConnected = false;
      this.#lostMs = Number.NEGATIVE_INFINITY;
    } else {
      return;
    }
    this.#changed.signal();
  }
}

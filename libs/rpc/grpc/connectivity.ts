/** Whether the peer of a gRPC channel is connected, and the wait for its return. */
import { WakeSignal } from '@creditlane/runtime/concurrency/wake-signal';
import { type Client, connectivityState } from '@grpc/grpc-js';

type Channel = ReturnType<Client['getChannel']>;

/**
 * How long calls wait after the last connection was lost. When the only replica that a client knows stops, its successor
 * is looked up and dialed, which takes longer than the retries of a call where all processors are busy.
 */
const RETURNS_WITHIN_MS = 3_000;

export class Connectivity {
  readonly #channel: Channel;
  #isConnected = false;
  #lostMs = Number.NEGATIVE_INFINITY;
  readonly #returned = new WakeSignal();

  constructor(channel: Channel) {
    this.#channel = channel;
    this.#watch();
  }

  /**
   * Whether the peer is reachable; makes an idle channel connect. A peer that was connected counts as reachable
   * until a connection attempt fails, also while the connection is renewed at its maximum age.
   */
  isReachable(): boolean {
    this.#note(this.#channel.getConnectivityState(true));
    return this.#isConnected;
  }

  /**
   * Resolves at once, or where the peer was lost a moment ago, when it is back. Resolves, too, when it does not come back
   * in time, after `limitMs`, or when `signal` aborts.
   */
  async returned(limitMs: number, signal?: AbortSignal): Promise<void> {
    const endMs = Math.min(this.#lostMs + RETURNS_WITHIN_MS, performance.now() + limitMs);
    while (!this.#isConnected && !signal?.aborted) {
      const leftMs = endMs - performance.now();
      if (leftMs <= 0) return;
      await this.#returned.wait(leftMs, signal);
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
      this.#returned.signal();
    } else if (state === connectivityState.TRANSIENT_FAILURE && this.#isConnected) {
      this.#isConnected = false;
      this.#lostMs = performance.now();
    }
  }
}

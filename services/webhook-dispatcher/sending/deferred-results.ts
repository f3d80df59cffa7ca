/**
 * Defers the recording of successful deliveries for a moment, so that one transaction records many: a result alone costs a
 * round trip and a commit. A result that another delivery waits for is recorded at once, with those deferred before it.
 */
import { LRUCache } from 'lru-cache';
import { type Lane, laneKey } from '../queue/delivery.ts';

/** Limits what is sent twice when this process dies: another process sends every delivery again whose success was not recorded. */
const MAX_DEFERRED = 32;
const MAX_LANES = 20_000;

interface DeferredResult {
  readonly lane: string;
  readonly destinationId: string;
  readonly beginRecording: () => void;
}

export class DeferredResults {
  readonly #maxDelayMs: number;
  readonly #deferred: DeferredResult[] = [];
  /** The lanes in which deliveries wait, as far as this process knows. */
  readonly #waitingLanes = new LRUCache<string, true>({ max: MAX_LANES });
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /** No result is deferred for longer than `maxDelayMs`. */
  constructor(maxDelayMs: number) {
    this.#maxDelayMs = maxDelayMs;
  }

  /** Resolves when the result of a delivery in this lane is to be recorded: at once if it is urgent. */
  defer(lane: Lane, isUrgent: boolean): Promise<void> {
    const key = laneKey(lane);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#deferred.push({ lane: key, destinationId: lane.destinationId, beginRecording: resolve });
    const isFull = this.#deferred.length >= MAX_DEFERRED;
    if (isUrgent || this.#waitingLanes.has(key) || isFull || this.#closed) this.recordAll();
    else this.#timer ??= setTimeout(() => this.recordAll(), this.#maxDelayMs);
    return promise;
  }

  /** Notes that deliveries wait in these lanes. */
  addWaiting(lanes: readonly Lane[]): void {
    for (const lane of lanes) this.#waitingLanes.set(laneKey(lane), true);
    if (this.#deferred.some(({ lane }) => this.#waitingLanes.has(lane))) this.recordAll();
  }

  /**
   * Notes in which lanes deliveries have ended, and in which of these the next one was promoted. Behind a promoted delivery
   * further ones may wait, which another process or a replay may have added; in the other lanes no delivery waits any more.
   */
  updateWaiting(ended: readonly Lane[], promoted: readonly Lane[]): void {
    for (const lane of ended) this.#waitingLanes.delete(laneKey(lane));
    this.addWaiting(promoted);
  }

  /** Has all deferred results recorded when one of them is of these destinations, or of any. */
  recordDeferredOf(destinationIds: ReadonlySet<string> | undefined): void {
    const isAmong = ({ destinationId }: DeferredResult) =>
      destinationIds?.has(destinationId) ?? true;
    if (this.#deferred.some(isAmong)) this.recordAll();
  }

  /** Has all deferred results recorded, in one transaction. */
  recordAll(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const { beginRecording } of this.#deferred.splice(0)) beginRecording();
  }

  /** Defers no results any more. */
  close(): void {
    this.#closed = true;
    this.recordAll();
  }
}

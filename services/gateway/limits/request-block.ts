/**
 * The requests of one key that this replica may admit: a block of the key's quota, which the integrations
 * service keeps for all replicas, taken ahead of time.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type {
  TakeRequestsRequest,
  TakeRequestsResponse,
} from '@creditlane/proto/integrations/v1/integrations_service';

/** How many requests a key may make: `requests` at once, and as many again in each window. */
export interface RateLimit {
  readonly requests: number;
  readonly windowMs: number;
}

/** What a replica asks for. */
export type Demand = Pick<TakeRequestsRequest, 'waiting' | 'ahead' | 'held' | 'returned'>;
export type TakenRequests = Pick<TakeRequestsResponse, 'granted' | 'wholeInMs' | 'validMs'>;

/** Takes requests from the quota. Rejects when the integrations service cannot be asked. */
export type TakeRequests = (limit: RateLimit, demand: Demand) => Promise<TakenRequests>;

/** The largest block, as a part of the limit. */
const MAX_BLOCK = 1 / 20;
/** The size of a key's first block, unless it is too large a part of the limit. */
const FIRST_BLOCK = 20;
/** The next block is taken when a fifth of one is left: a block that lasts 50 ms leaves 10 ms for a call of 1 ms. */
const ASK_AT = 1 / 5;
/**
 * A block that is used up sooner is followed by one of twice the size. One that lasts longer is renewed, by
 * half the size, before the service lets it end.
 */
const BLOCK_LASTS_MS = { min: 20_000, max: 40_000 };
/** A quota that is used up is asked for again once a block of it is regained, and after this time at the latest. */
const MAX_PAUSE_MS = 1_000;
/** The pause before an integrations service that has not answered is asked again. */
const AWAY_PAUSE_MS = 1_000;
/** The part of the limit that a replica admits on its own while the integrations service is away. */
const FALLBACK_PART = 1 / 10;
/** In requests: what is regained is not exact to the last digit. */
const TOLERANCE = 1e-6;

export class RequestBlock {
  readonly #nowMs: () => number;
  #limit: RateLimit;
  #held = 0;
  #heldUntilMs = 0;
  /** Requests that were held too long, and are given back with the next call. */
  #returned = 0;
  /** When the whole quota is regained, if no replica takes more. */
  #wholeAtMs = 0;
  #usedUpUntilMs = 0;
  #size = FIRST_BLOCK;
  #askAtHeld = -1;
  #askedMs = Number.NEGATIVE_INFINITY;
  #asking: Promise<void> | undefined;
  #waiting = 0;
  #usesFallback = false;
  /** Requests that nobody granted, for use while the integrations service is away. */
  #fallback = 0;
  #fallbackAgainMs = 0;

  constructor(limit: RateLimit, nowMs: () => number) {
    this.#limit = limit;
    this.#nowMs = nowMs;
  }

  /**
   * Admits one request, or refuses it. Returns a promise only when the quota must be asked for first, which
   * the block avoids by asking ahead.
   */
  take(limit: RateLimit, ask: TakeRequests): boolean | Promise<boolean> {
    const nowMs = this.#nowMs();
    this.#adoptLimit(limit);
    this.#endBlock(nowMs);
    if (this.#held === 0) {
      if (nowMs < this.#usedUpUntilMs) return false;
      if (!this.#usesFallback) return this.#wait(ask);
      if (nowMs - this.#askedMs >= AWAY_PAUSE_MS) void this.#askOnce(ask);
      return this.#takeFallback(nowMs);
    }
    this.#held -= 1;
    const isLow = this.#held <= this.#askAtHeld || nowMs - this.#askedMs >= BLOCK_LASTS_MS.max;
    if (isLow && nowMs >= this.#usedUpUntilMs && !this.#usesFallback) void this.#askOnce(ask);
    return true;
  }

  /** The requests that are left, and after how long the whole quota is regained. */
  left(): { requests: number; wholeInMs: number } {
    const { requests, windowMs } = this.#limit;
    const perRequestMs = windowMs / requests;
    const takenMs = Math.max(0, this.#wholeAtMs - this.#nowMs());
    const elsewhere = this.#usesFallback
      ? this.#fallback
      : Math.max(0, windowMs - takenMs) / perRequestMs;
    return {
      requests: Math.min(requests, Math.floor(elsewhere + this.#held + TOLERANCE)),
      wholeInMs: Math.max(0, takenMs - this.#held * perRequestMs),
    };
  }

  /** For a refused request: after how long one may be admitted; undefined where that is not known. */
  admitsInMs(): number | undefined {
    const inMs = this.#usedUpUntilMs - this.#nowMs();
    return this.#usesFallback && inMs <= 0 ? undefined : Math.max(0, inMs);
  }

  /**
   * A refusal of the old limit says nothing of a new one, which may be much larger, and a block of the old one may be larger than
   * the new quota.
   */
  #adoptLimit(limit: RateLimit): void {
    const isNew = !isSameLimit(limit, this.#limit);
    this.#limit = limit;
    if (!isNew) return;
    this.#usedUpUntilMs = 0;
    this.#fallback = 0;
    this.#fallbackAgainMs = 0;
    this.#heldUntilMs = 0;
  }

  async #wait(ask: TakeRequests): Promise<boolean> {
    this.#waiting += 1;
    try {
      await this.#askOnce(ask);
    } finally {
      this.#waiting -= 1;
    }
    return this.take(this.#limit, ask);
  }

  #askOnce(ask: TakeRequests): Promise<void> {
    this.#asking ??= this.#ask(ask).finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #ask(ask: TakeRequests): Promise<void> {
    // Requests that arrive in this turn of the event loop wait for this call, and not for the next.
    await nextTurn();
    const sentMs = this.#nowMs();
    this.#endBlock(sentMs);
    this.#adaptSize(sentMs);
    const demand = {
      waiting: this.#waiting,
      ahead: this.#size,
      held: this.#held,
      returned: this.#returned,
    };
    // Given back once: after a failed call it is not known whether the service has them.
    this.#returned = 0;
    const limit = this.#limit;
    const taken = await ask(limit, demand).catch(() => undefined);
    this.#usesFallback = taken === undefined;
    if (taken === undefined) return;
    // What was granted of an earlier limit is given back with the next call, for which those who wait wait again.
    if (isSameLimit(limit, this.#limit)) this.#receive(taken, demand, sentMs);
    else this.#returned += taken.granted;
  }

  #receive({ granted, wholeInMs, validMs }: TakenRequests, { waiting }: Demand, sentMs: number) {
    const { requests, windowMs } = this.#limit;
    const nowMs = this.#nowMs();
    this.#held += granted;
    this.#heldUntilMs = sentMs + validMs;
    this.#askAtHeld = this.#held > waiting ? Math.floor((this.#held - waiting) * ASK_AT) : -1;
    this.#wholeAtMs = nowMs + wholeInMs;
    const oneInMs = wholeInMs - windowMs + windowMs / requests;
    const isUsedUp = (oneInMs * requests) / windowMs > TOLERANCE;
    const pauseMs = Math.min(windowMs * MAX_BLOCK, MAX_PAUSE_MS);
    this.#usedUpUntilMs = isUsedUp ? nowMs + Math.max(oneInMs, pauseMs) : 0;
  }

  #adaptSize(nowMs: number): void {
    const lastedMs = nowMs - this.#askedMs;
    this.#askedMs = nowMs;
    if (lastedMs < BLOCK_LASTS_MS.min) this.#size *= 2;
    else if (lastedMs > BLOCK_LASTS_MS.max) this.#size = Math.floor(this.#size / 2);
    const max = Math.floor(this.#limit.requests * MAX_BLOCK);
    this.#size = Math.min(Math.max(1, this.#size), max);
  }

  #endBlock(nowMs: number): void {
    if (nowMs < this.#heldUntilMs) return;
    this.#returned += this.#held;
    this.#held = 0;
  }

  /**
   * Admits a twentieth of the limit at once and a tenth in each window, or one request where that is less
   * than one: ten replicas then admit the limit, and no more.
   *
   * Refusing all requests instead would make reads fail when the integrations service can only read, as with
   * a full disk. When it answers nothing at all, requests are refused in any case as soon as the caches of
   * keys and grants have expired, after a few seconds.
   */
  #takeFallback(nowMs: number): boolean {
    if (this.#fallback === 0 && nowMs >= this.#fallbackAgainMs) {
      const { requests, windowMs } = this.#limit;
      this.#fallback = Math.max(1, Math.floor(requests * MAX_BLOCK));
      this.#fallbackAgainMs = nowMs + (this.#fallback * windowMs) / requests / FALLBACK_PART;
    }
    if (this.#fallback === 0) return false;
    this.#fallback -= 1;
    return true;
  }
}

function isSameLimit(one: RateLimit, other: RateLimit): boolean {
  return one.requests === other.requests && one.windowMs === other.windowMs;
}

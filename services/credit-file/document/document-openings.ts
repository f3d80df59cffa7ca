/** Admits the openings of links to documents: a few of each link in a minute, and a few of each retailer at once. */
import { resourceExhausted, unavailable } from '@creditlane/rpc/fault';
import { type TurnCaller, Turns } from '@creditlane/runtime/concurrency/turns';
import { createExpiringCache } from '@creditlane/runtime/expiring-cache';

/** A person opens a link once or twice; 20 also serve a program that opens it again after each failure. */
export const MAX_PER_MINUTE = 20;
const MINUTE_MS = 60_000;
/** Two documents are drawn at a time, while others are opened. */
const AT_ONCE = 4;
/** So that the links of one retailer leave turns for those of the others. */
const AT_ONCE_OF_RETAILER = 2;
/** The last of so many long documents is drawn within the time limit of its call. */
const WAITING_OF_RETAILER = 20;
const AT_ONCE_OF_LINK = 2;
const WAIT_MS = 10_000;
/** More links than are opened too often in any minute. */
const REFUSED_LINKS = 10_000;

export interface Link {
  fileId: string;
  /** In seconds since 1970. */
  expires: number;
}

/** The minute that a time is in. */
export function minuteOf(at: Date): Date {
  return new Date(Math.floor(at.getTime() / MINUTE_MS) * MINUTE_MS);
}

export class DocumentOpenings {
  readonly #turns = new Turns({
    maxRunning: AT_ONCE,
    maxRunningPerKey: AT_ONCE_OF_RETAILER,
    maxWaitingPerKey: WAITING_OF_RETAILER,
    waitMs: WAIT_MS,
    refuse: (reason) =>
      reason === 'too_many_waiting'
        ? tooManyAtOnce('too many documents of the retailer are being opened at once')
        : unavailable('the documents that were asked for before took too long'),
  });
  /** Openings that run or wait, by link. */
  readonly #underWay = new Map<string, number>();
  /** The minutes in which a link was opened as often as it may be, so that a refusal needs no database. */
  readonly #usedUp = createExpiringCache<number>(REFUSED_LINKS, MINUTE_MS);

  /** Throws the fault `rate_limited` for a link that `refuse` has refused in this minute. */
  requireLeft(link: Link, now: Date): void {
    if (this.#usedUp.get(nameOf(link)) === minuteOf(now).getTime()) throw rateLimited(now);
  }

  /** The fault `rate_limited`, also of the link's later openings in this minute. */
  refuse(link: Link, now: Date) {
    this.#usedUp.set(nameOf(link), minuteOf(now).getTime());
    return rateLimited(now);
  }

  /**
   * Opens the document when it is its retailer's turn. A turn lasts until `open` has ended, also when the caller leaves.
   * @throws Fault `too_many_under_way` when the link is being opened too often at once, or too many openings of the
   *   retailer wait; `unavailable` without a turn in time; the reason of the caller's signal
   */
  async run<T>(
    { link, retailerId }: { link: Link; retailerId: string },
    open: () => Promise<T>,
    caller: TurnCaller,
  ): Promise<T> {
    const name = nameOf(link);
    const others = this.#underWay.get(name) ?? 0;
    if (others >= AT_ONCE_OF_LINK) {
      throw tooManyAtOnce('this link is being opened too often at once');
    }
    this.#underWay.set(name, others + 1);
    try {
      return await this.#turns.run(retailerId, open, caller);
    } finally {
      const left = (this.#underWay.get(name) ?? 1) - 1;
      if (left === 0) this.#underWay.delete(name);
      else this.#underWay.set(name, left);
    }
  }
}

function nameOf({ fileId, expires }: Link): string {
  return `${fileId} ${expires}`;
}

function tooManyAtOnce(message: string) {
  return resourceExhausted('too_many_under_way', `${message}; please wait`, 1);
}

function rateLimited(now: Date) {
  const leftMs = minuteOf(now).getTime() + MINUTE_MS - now.getTime();
  const message = 'this link was opened too often in this minute; please wait';
  return resourceExhausted('rate_limited', message, Math.ceil(leftMs / 1_000));
}

/**
 * The last record of each chain that this process has seen. Whoever may delete records and put an earlier head back leaves a
 * chain that is whole in itself: only a place outside of the database tells that it was longer.
 */
import type { Database } from '@creditlane/postgres/database';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { findHashes } from '../store/audit-log.ts';
import type { ChainHead } from './audit-log.ts';

/** The head of an intact chain, and as it is sealed. */
export interface SeenHead extends ChainHead {
  retailerId: string;
  sealed: Buffer;
}

/** How often the heads that have changed are logged, and how often all of them: an old log is thrown away. */
const LOG_EVERY_MS = 10 * 60_000;
const LOG_ALL_EVERY_MS = 24 * 60 * 60_000;

export class SeenHeads {
  readonly #heads = new Map<string, SeenHead>();
  readonly #loggedSeqs = new Map<string, number>();
  #loggedMs = Number.NEGATIVE_INFINITY;
  #loggedAllMs = Number.NEGATIVE_INFINITY;

  /**
   * Compares intact chains with what was seen of them, and remembers those that have only grown. Resolves to the problem of each
   * other one, which lasts until the process ends.
   */
  async compare(pool: Database['pool'], heads: readonly SeenHead[]): Promise<Map<string, string>> {
    const known = heads.flatMap(({ retailerId }) => this.#heads.get(retailerId) ?? []);
    const hashes = await findHashes(pool, known);
    const problems = new Map<string, string>();
    for (const { retailerId, seq, hash } of known) {
      const found = hashes.get(retailerId);
      if (found === undefined) {
        problems.set(retailerId, `record ${seq}, which the chain had, is missing`);
      } else if (!found.equals(hash)) {
        problems.set(retailerId, `record ${seq} is another one than the chain had`);
      }
    }
    for (const head of heads) {
      if (!problems.has(head.retailerId)) this.#heads.set(head.retailerId, head);
    }
    return problems;
  }

  /** The retailers whose chains were seen, and are not among these. */
  missing(retailerIds: ReadonlySet<string>): string[] {
    return [...this.#heads.keys()].filter((it) => !retailerIds.has(it));
  }

  /** Every ten minutes, logs the heads that have changed, and all of them once a day. `nowMs` is of a monotonic clock. */
  log(log: Log, nowMs: number): void {
    if (nowMs - this.#loggedMs < LOG_EVERY_MS) return;
    this.#loggedMs = nowMs;
    if (nowMs - this.#loggedAllMs >= LOG_ALL_EVERY_MS) {
      this.#loggedAllMs = nowMs;
      this.#loggedSeqs.clear();
    }
    for (const { retailerId, seq, hash, sealed } of this.#heads.values()) {
      if (this.#loggedSeqs.get(retailerId) === seq) continue;
      this.#loggedSeqs.set(retailerId, seq);
      const signed = sealed.toString('base64');
      log.info(
        { retailerId, seq, hash: hash.toString('hex'), signed },
        'the head of an audit chain',
      );
    }
  }
}

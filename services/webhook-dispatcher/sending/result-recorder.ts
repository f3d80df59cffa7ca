/** Records results in batches: a batch is the results that arrived while the previous batch was being written. */
import { isTimeLimit, isTransientError } from '@creditlane/postgres/error-classes';
import { backoffMs } from '@creditlane/runtime/concurrency/backoff';
import { Batcher } from '@creditlane/runtime/concurrency/batcher';
import { pause } from '@creditlane/runtime/concurrency/pause';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { MAX_LOGGED_IDS } from '../destinations/destination-log.ts';
import type { AttemptRecord, AttemptResult } from './attempt.ts';
import { ResultWriter, type ResultWriterDeps } from './result-writer.ts';

/** A record that is lost is done, too. A blocked one takes longer than a statement may, alone in its transaction. */
type Ending = 'done' | 'blocked';

const MAX_BATCH = 1_000;
/** How often the write of a single result that the database refuses is tried. */
const MAX_TRIES = 5;
const RETRY_BACKOFF = { baseMs: 50, capMs: 2_000 };

export class ResultRecorder {
  readonly #log: Log;
  readonly #writer: ResultWriter;
  readonly #stop = new AbortController();
  readonly #batches: Batcher<AttemptRecord, Ending>;
  /** Writes blocked records again, apart from all others, which do not wait for them. */
  readonly #blocked: Batcher<AttemptRecord, Ending>;
  /** The calls of `record` whose records are blocked. */
  readonly #recordings = new Set<Promise<void>>();

  constructor(deps: ResultWriterDeps) {
    this.#log = deps.log;
    this.#writer = new ResultWriter(deps);
    const write = (records: readonly AttemptRecord[]) => this.#writeRecords(records);
    this.#batches = new Batcher(write, { maxConcurrent: 1, maxItems: MAX_BATCH });
    this.#blocked = new Batcher(write, { maxConcurrent: 1, maxItems: 1 });
  }

  /**
   * Resolves once the record is written, or lost after the retries: then the delivery is due again when
   * its lease ends.
   */
  async record(record: AttemptRecord): Promise<void> {
    if ((await this.#batches.add(record)) === 'done') return;
    const recording = this.#recordBlocked(record);
    this.#recordings.add(recording);
    await recording;
    this.#recordings.delete(recording);
  }

  /** Writes the remaining records, without retries. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#batches.settled();
    await Promise.all(this.#recordings);
  }

  async #recordBlocked(record: AttemptRecord): Promise<void> {
    const deliveryId = record.delivery.id;
    let ending: Ending = 'blocked';
    for (let attempt = 1; ending === 'blocked'; attempt += 1) {
      this.#log.warn({ deliveryId, attempt }, 'the result of a webhook waits for a lock');
      await pause(backoffMs(attempt, RETRY_BACKOFF), this.#stop.signal);
      ending = await this.#blocked.add(record);
    }
  }

  async #writeRecords(records: readonly AttemptRecord[]): Promise<Ending[]> {
    const late: AttemptResult[] = [];
    const blocked = await this.#writeAll(records, async (batch) => {
      late.push(...(await this.#writer.write(batch)));
    });
    // Late results are written apart: their statement reads several days of ended deliveries.
    const blockedLate = await this.#writeAll(late, (batch) => this.#writer.writeLate(batch));
    const blockedIds = new Set([...blocked, ...blockedLate].map((it) => it.delivery.id));
    return records.map((record) => (blockedIds.has(record.delivery.id) ? 'blocked' : 'done'));
  }

  /**
   * Writes the records by `write`, and returns those that are blocked. A transient error is retried until the recorder is
   * closed. A batch that the database refuses, or that takes longer than a statement may, is split in halves until the
   * record that causes it is alone, so that the others are written. A record that is refused is lost after `MAX_TRIES`;
   * one that takes too long is blocked.
   */
  async #writeAll<T extends AttemptRecord>(
    records: readonly T[],
    write: (batch: readonly T[]) => Promise<void>,
  ): Promise<T[]> {
    if (records.length === 0) return [];
    for (let attempt = 1; ; attempt += 1) {
      try {
        await write(records);
        return [];
      } catch (err) {
        const refused = !isTransientError(err);
        const timedOut = isTimeLimit(err);
        if ((refused || timedOut) && records.length > 1) {
          const middle = records.length >> 1;
          const first = await this.#writeAll(records.slice(0, middle), write);
          return [...first, ...(await this.#writeAll(records.slice(middle), write))];
        }
        if (timedOut && !this.#stop.signal.aborted) return [...records];
        if (this.#stop.signal.aborted || (refused && attempt === MAX_TRIES)) {
          this.#logLost(err, records);
          return [];
        }
        this.#log.warn({ err, attempt }, 'results of webhooks cannot be written');
        await pause(backoffMs(attempt, RETRY_BACKOFF), this.#stop.signal);
      }
    }
  }

  #logLost(err: unknown, records: readonly AttemptRecord[]): void {
    const deliveryIds = records.slice(0, MAX_LOGGED_IDS).map((record) => record.delivery.id);
    const lost = { err, deliveries: records.length, deliveryIds };
    this.#log.error(lost, 'results of webhooks are lost');
  }
}

/**
 * The rounds of the relay: each reads unpublished events of the shards whose lease this process holds, publishes them on
 * the bus, and has them marked. Events of partitions that cannot be written are published apart from the rounds.
 */
import {
  type EventBus,
  PartlyPublishedError,
  type UnwritablePartition,
} from '@creditlane/events/bus';
import type { EventMessage } from '@creditlane/events/message';
import { runQuery } from '@creditlane/postgres/statement';
import { withTimeLimit } from '@creditlane/runtime/concurrency/time-limit';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { endSpansAfter } from '@creditlane/runtime/telemetry/tracing';
import type pg from 'pg';
import { OUTBOX_CONSUMER, storeDeadLetter } from '../dead-letters/dead-letters.ts';
import { type OutgoingEvent, prepareBatch } from './outgoing-events.ts';
import type { PublicationMarks } from './publication-marks.ts';
import { ReadPosition } from './read-position.ts';
import type { Lease, ShardLeases } from './shard-leases.ts';
import {
  type ExcludedRows,
  MAX_SHARD_BATCH,
  oldestUnpublishedQuery,
  stillHeld,
  type UnpublishedRows,
  unpublishedOfKeysQuery,
  unpublishedQuery,
} from './unpublished-rows.ts';
import { UnwritablePartitions } from './unwritable-partitions.ts';

/** How long `close` waits for a publish under way. Its events are published again otherwise. */
const CLOSE_GRACE_MS = 5_000;

export interface RoundOptions {
  /** The rounds go on while requests use all other connections. */
  reserved: pg.Pool;
  bus: EventBus;
  shardLeases: ShardLeases;
  marks: PublicationMarks;
  /** See RelayOptions. */
  keepsDeadLetters: boolean;
  /** The `ce_source` of the events: the service whose outbox this is. */
  source: string;
  log: Log;
  metrics: Metrics;
  stop: AbortSignal;
  /** How late an event is read, at most, whose wake-up was lost or whose id is before the position of the reads. */
  pollMs: number;
  /** Starts the next round. */
  wake(): void;
}

export interface RoundResult {
  publishedCount: number;
  /** Whether the next round may have events to publish. */
  hasMore: boolean;
}

export class RelayRounds {
  readonly #options: RoundOptions;
  readonly #shardLeases: ShardLeases;
  readonly #marks: PublicationMarks;
  readonly #position: ReadPosition;
  /** Their events are published apart from the rounds. */
  readonly #unwritable: UnwritablePartitions;
  /**
   * Keys of events that this version cannot encode. All later events of such a key wait, because a key
   * keeps its order; other keys do not. A key is blocked until the process ends.
   */
  readonly #blockedKeys = new Set<string>();
  /** The last statement beside the rounds. */
  #lastBeside: Promise<unknown> = Promise.resolve();
  /** The rows that the last round has read and not published, because there were too many. */
  #remaining: UnpublishedRows | undefined;

  constructor(options: RoundOptions) {
    const { shardLeases, marks, pollMs, wake, log } = options;
    this.#options = options;
    this.#shardLeases = shardLeases;
    this.#marks = marks;
    const publishKeys = (keys: readonly string[]) => this.#publishKeys(keys);
    const onEnd = () => {
      // The events of its keys may be before the position.
      this.#position.restart();
      wake();
    };
    this.#unwritable = new UnwritablePartitions({ ...options, publishKeys, onEnd });
    this.#position = new ReadPosition({
      findOldest: (leases) => this.#findOldest(leases),
      wake,
      maxPauseMs: pollMs,
      log,
    });
  }

  /**
   * Does one round, and adds its events to the marks. Rejects when the bus or the database fails; then no event of the round
   * is lost.
   */
  async publishRound(): Promise<RoundResult> {
    // Rows that remain of an earlier read, which MAX_SHARD_BATCH may have cut off.
    const areRemaining = this.#remaining !== undefined;
    const unpublished = await this.#readUnpublished();
    const { leases, rows } = stillHeld(unpublished, this.#shardLeases.held());
    const { outgoing, remaining, divertedCount } = prepareBatch(
      rows,
      this.#batchOptions(this.#unwritable),
    );
    // The rows were diverted or have blocked their keys: the next round reads others, without them.
    if (outgoing.size === 0) return { publishedCount: 0, hasMore: areRemaining || rows.length > 0 };
    const prepared = outgoing.size;

    await this.#publish([...outgoing.values()], async (failedPartitions, messages) => {
      this.#leaveOut(failedPartitions, outgoing);
      this.#unwritable.add(failedPartitions, messages);
    });
    this.#marks.unmarked.add([...outgoing.keys()], leases);
    // When this round has left an event unpublished, a later event of its key may be among the rows that remain. The next
    // round reads both again: from the remaining rows it would publish the later event first if their partition is writable
    // by then.
    const isAllPublished = divertedCount === 0 && outgoing.size === prepared;
    if (remaining.length > 0 && isAllPublished) this.#remaining = { leases, rows: remaining };
    const mayBeCutOff = areRemaining || rows.length >= MAX_SHARD_BATCH;
    const hasMore = mayBeCutOff || remaining.length > 0 || divertedCount > 0;
    return { publishedCount: outgoing.size, hasMore };
  }

  /** Resolves after `stop`, when nothing is done any more beside the rounds. */
  async close(): Promise<void> {
    await Promise.all([this.#unwritable.close(), this.#position.scanEnded()]);
  }

  /**
   * Publishes the oldest events of keys whose partition could not be written; resolves to whether there may be more.
   * Rejects, too, while it is unknown which shards this relay holds.
   */
  async #publishKeys(keys: readonly string[]): Promise<boolean> {
    const open = keys.filter((key) => !this.#blockedKeys.has(key));
    const read = await this.#besideRounds(() => this.#readKeys(open));
    const { leases, rows } = stillHeld(read, this.#shardLeases.held());
    const { outgoing, remaining } = prepareBatch(rows, this.#batchOptions());
    // Other rows may be read without the keys that were blocked, or under the next leases.
    if (outgoing.size === 0) return read.rows.length > 0;
    const ids = new Map([...outgoing].map(([id, { message }]) => [message, id]));
    await this.#publish([...outgoing.values()], async (failedPartitions, messages) => {
      this.#leaveOut(failedPartitions, outgoing);
      const published = [...outgoing.keys()];
      if (published.length > 0)
        await this.#besideRounds(() => this.#marks.markNow(published, leases));
      // A key of the partition with an event that is too large waits alone from now on.
      const isAlone = (it: UnwritablePartition) =>
        it.key !== undefined && !this.#unwritable.has(it);
      const [failed] = failedPartitions.filter((it) => !isAlone(it));
      this.#unwritable.add(failedPartitions.filter(isAlone), messages);
      const refused = failed && (await this.#findGivenUp(failed));
      const givenUpId = refused && ids.get(refused);
      if (failed && givenUpId === undefined) throw failed.cause;
      if (givenUpId !== undefined)
        await this.#besideRounds(() => this.#marks.markNow([givenUpId], leases));
    });
    return (
      remaining.length > 0 || read.rows.length > rows.length || rows.length === MAX_SHARD_BATCH
    );
  }

  /**
   * Keeps the event that is too large as a dead letter. Returns it when an operator has discarded the dead letter: it then counts as
   * published.
   */
  async #findGivenUp({ key, failed, cause }: UnwritablePartition) {
    const { keepsDeadLetters, reserved, log } = this.#options;
    const [refused] = failed;
    if (!keepsDeadLetters || key === undefined || refused === undefined) return undefined;
    const isGivenUp = await this.#besideRounds(() =>
      storeDeadLetter(reserved, OUTBOX_CONSUMER, refused, cause),
    );
    if (!isGivenUp) return undefined;
    const fields = { key, eventId: refused.headers.ce_id };
    log.warn(fields, 'an event that was discarded as a dead letter is not published');
    return refused;
  }

  /** Takes the events that were not published out of `outgoing`. */
  #leaveOut(
    failedPartitions: readonly UnwritablePartition[],
    outgoing: Map<number, OutgoingEvent>,
  ): void {
    const failed = new Set(failedPartitions.flatMap((partition) => partition.failed));
    for (const [id, { message, span }] of outgoing) {
      if (!failed.has(message)) continue;
      span.end('PartlyPublishedError');
      outgoing.delete(id);
    }
  }

  async #readKeys(keys: readonly string[]): Promise<UnpublishedRows> {
    await this.#marks.marksEnded();
    if (!this.#shardLeases.areKnown()) throw new Error('the leases of the outbox are not renewed');
    const leases = this.#shardLeases.held();
    const query = unpublishedOfKeysQuery(leases, keys, this.#marks.unmarked.ids);
    return { leases, rows: await runQuery(this.#options.reserved, query) };
  }

  #findOldest(leases: readonly Lease[]): Promise<number | undefined> {
    const { reserved } = this.#options;
    return this.#besideRounds(() =>
      runQuery(reserved, oldestUnpublishedQuery(leases, this.#excluded())),
    );
  }

  /** The events that no round publishes. */
  #excluded(): ExcludedRows {
    const keys = [...this.#blockedKeys, ...this.#unwritable.keys()];
    return { keys, ids: this.#marks.unmarked.ids };
  }

  /**
   * Runs a statement at the same time as the rounds, after all earlier ones that run so. Of the reserved connections, the
   * rounds, the renewals of the leases and these statements need one each; the heartbeat takes one that is free for a moment.
   */
  #besideRounds<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#lastBeside.then(run);
    const end = () => undefined;
    this.#lastBeside = result.then(end, end);
    return result;
  }

  #batchOptions(unwritable?: UnwritablePartitions) {
    const { source, log } = this.#options;
    return { source, log, blockedKeys: this.#blockedKeys, ...(unwritable && { unwritable }) };
  }

  /**
   * Reads what is to be published, and marks in the same round trip what was published before when that is due. Rows that
   * remain of an earlier read are published while the mark runs.
   */
  async #readUnpublished(): Promise<UnpublishedRows> {
    await this.#marks.marksEnded();
    const { reserved: pool } = this.#options;
    const leases = this.#shardLeases.held();
    const remaining = this.#remaining;
    this.#remaining = undefined;
    const isMarkDue = this.#marks.unmarked.isDue(leases);
    if (remaining !== undefined) {
      // The next read waits for this mark (`marksEnded`).
      if (isMarkDue) void this.#marks.mark();
      return remaining;
    }
    if (leases.length === 0) {
      if (isMarkDue) await this.#marks.mark();
      return { leases, rows: [] };
    }
    const excluded = this.#excluded();
    const rows = await this.#position.read(leases, (afterId) => {
      if (!isMarkDue) return runQuery(pool, unpublishedQuery(leases, excluded, afterId));
      const read = unpublishedQuery(leases, { ...excluded, ids: [] }, afterId);
      return this.#marks.markAndRead(read);
    });
    return { leases, rows };
  }

  /** Publishes the events, then runs `follow` with the partitions whose messages were not published. Ends their spans after both. */
  async #publish(
    events: readonly OutgoingEvent[],
    follow: (failed: readonly UnwritablePartition[], messages: EventMessage[]) => Promise<void>,
  ): Promise<void> {
    const messages = events.map(({ message }) => message);
    await endSpansAfter(
      events.map(({ span }) => span),
      this.#send(messages).then((failed) => follow(failed, messages)),
    );
  }

  /** Resolves to the partitions whose messages were not published. */
  async #send(messages: EventMessage[]): Promise<readonly UnwritablePartition[]> {
    // What was published before is marked in time, although the publish may take long.
    const markInMs = this.#marks.unmarked.dueInMs();
    const marking =
      markInMs < Infinity ? setTimeout(() => void this.#marks.mark(), markInMs) : undefined;
    try {
      await withTimeLimit(this.#options.bus.publish(messages), {
        limitMs: CLOSE_GRACE_MS,
        startsOn: this.#options.stop,
        makeError: () => new Error('the relay closed before the bus had published the events'),
      });
      return [];
    } catch (error) {
      if (error instanceof PartlyPublishedError) return error.partitions;
      throw error;
    } finally {
      clearTimeout(marking);
    }
  }
}

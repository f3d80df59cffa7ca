/**
 * The partitions of the event bus that cannot be written at the moment, and the keys with an event that is larger than its topic
 * permits. The relay publishes their events apart from all others, so that only these keys wait, until no event of them is left.
 */
import type { UnwritablePartition } from '@creditlane/events/bus';
import type { EventMessage } from '@creditlane/events/message';
import { backoffMs } from '@creditlane/runtime/concurrency/backoff';
import { pause } from '@creditlane/runtime/concurrency/pause';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';

const BACKOFF = { baseMs: 100, capMs: 5_000 };

export interface UnwritablePartitionsOptions {
  /** Publishes the oldest events of the keys and resolves to whether there are more; rejects when they cannot be published. */
  publishKeys(keys: readonly string[]): Promise<boolean>;
  /** Called when the events of a partition need not be published apart any more. */
  onEnd(): void;
  source: string;
  log: Log;
  metrics: Metrics;
  stop: AbortSignal;
}

interface WaitingPartition {
  partition: UnwritablePartition;
  keys: Set<string>;
  sinceMs: number;
  running?: Promise<void>;
}

export class UnwritablePartitions {
  readonly #options: UnwritablePartitionsOptions;
  readonly #waiting = new Map<string, WaitingPartition>();
  readonly #gauge;

  constructor(options: UnwritablePartitionsOptions) {
    const { source, metrics } = options;
    this.#options = options;
    const help =
      'How long a partition of the event bus, whose events wait in the outbox, cannot be written.';
    const labels = ['source', 'topic', 'partition'] as const;
    this.#gauge = metrics.gauge('outbox_partition_unwritable_seconds', help, labels, (gauge) => {
      for (const { partition, sinceMs } of this.#waiting.values()) {
        const { topic, partition: number, key } = partition;
        if (key === undefined)
          gauge.set({ source, topic, partition: number }, (performance.now() - sinceMs) / 1000);
      }
    });
  }

  /** The keys whose events are published apart. */
  keys(): string[] {
    return [...this.#waiting.values()].flatMap(({ keys }) => [...keys]);
  }

  /** Returns whether the message's partition or key cannot be written; from then on all events of its key are published apart. */
  divertIfUnwritable(message: EventMessage): boolean {
    let found: WaitingPartition | undefined;
    for (const waiting of this.#waiting.values()) {
      const { partition } = waiting;
      // A key that waits alone does so whether or not its partition can be written.
      if ((found === undefined || partition.key !== undefined) && partition.includes(message))
        found = waiting;
    }
    found?.keys.add(message.key);
    return found !== undefined;
  }

  /** Whether the events of the partition or key are published apart. */
  has(partition: UnwritablePartition): boolean {
    return this.#waiting.has(nameOf(partition));
  }

  /** Publishes the events of these partitions and keys apart, beginning with those of the messages' keys. */
  add(partitions: readonly UnwritablePartition[], messages: readonly EventMessage[]): void {
    for (const partition of partitions) {
      const { topic, partition: number, key, failed, cause: err } = partition;
      const name = nameOf(partition);
      if (this.#waiting.has(name)) continue;
      const waiting: WaitingPartition = {
        partition,
        keys: new Set<string>(),
        sinceMs: performance.now(),
      };
      if (key === undefined) {
        this.#options.log.warn(
          { err, topic, partition: number },
          'a partition cannot be written; the events of its keys wait, all others are published',
        );
      } else {
        for (const { keys } of this.#waiting.values()) keys.delete(key);
        this.#options.log.error(
          { err, topic, partition: number, key, eventId: failed[0]?.headers.ce_id },
          'an event is larger than its topic permits; the events of its key wait, all others are published',
        );
      }
      this.#waiting.set(name, waiting);
      waiting.running = this.#run(name, waiting);
    }
    for (const message of messages) this.divertIfUnwritable(message);
  }

  /** Resolves once nothing is published apart any more, soon after `stop`. */
  async close(): Promise<void> {
    await Promise.all([...this.#waiting.values()].map(({ running }) => running));
  }

  async #run(name: string, { partition, keys }: WaitingPartition): Promise<void> {
    const { publishKeys, onEnd, source, log, stop } = this.#options;
    const { topic, partition: number, key } = partition;
    const what = key === undefined ? 'partition' : 'key';
    for (let failures = 1; !stop.aborted; ) {
      if (failures > 0) await pause(backoffMs(failures, BACKOFF), stop);
      try {
        if (stop.aborted || !(await publishKeys([...keys]))) break;
        failures = 0;
      } catch (err) {
        failures += 1;
        log.debug({ err, topic, partition: number, failures }, `a ${what} cannot be written yet`);
      }
    }
    this.#waiting.delete(name);
    this.#gauge.remove({ source, topic, partition: number });
    if (stop.aborted) return;
    log.info(
      { topic, partition: number, key },
      `the events of a ${what} are published with all others again`,
    );
    onEnd();
  }
}

const nameOf = ({ topic, partition, key }: UnwritablePartition): string =>
  key === undefined ? `${topic} ${partition}` : `${topic} ${partition} ${key}`;

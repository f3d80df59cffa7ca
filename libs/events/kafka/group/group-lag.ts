/** The lag of a consumer group, read from the cluster, so that it also grows while this process consumes nothing. */

import {
  type PeriodicTask,
  startPeriodicTask,
} from '@creditlane/runtime/concurrency/periodic-task';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Admin, Kafka } from 'kafkajs';

export interface GroupLagOptions {
  client: Kafka;
  /** The names in the cluster, with the prefix. */
  group: string;
  topics: string[];
  everyMs: number;
  log: Log;
}

export class GroupLag {
  readonly #options: GroupLagOptions;
  readonly #measuring: PeriodicTask;
  #admin: Admin | undefined;
  #messages = 0;
  #handledUntilMs = Number.NEGATIVE_INFINITY;
  /** The ends of the partitions at a time; the group has not handled all that was before them yet. */
  #ends: { readonly readAtMs: number; readonly byPartition: Map<string, number> } | undefined;

  constructor(options: GroupLagOptions) {
    this.#options = options;
    this.#measuring = startPeriodicTask(options.everyMs, () => this.#measure());
  }

  /** The number of messages that the group has not committed, as counted last. */
  get messages(): number {
    return this.#messages;
  }

  /** The time, by performance.now(), of the last reading whose messages the group has all committed since. */
  get handledUntilMs(): number {
    return this.#handledUntilMs;
  }

  async close(): Promise<void> {
    await this.#measuring.close();
    await this.#admin?.disconnect();
  }

  async #measure(): Promise<void> {
    const { client, group, log } = this.#options;
    try {
      if (!this.#admin) {
        const admin = client.admin();
        await admin.connect();
        this.#admin = admin;
      }
      this.#messages = await this.#count(this.#admin);
    } catch (err) {
      // The number stays as it was. The consumer and the publisher report that Kafka is unavailable.
      log.debug({ err, group }, 'the lag could not be read');
      const failed = this.#admin;
      this.#admin = undefined;
      await failed?.disconnect().catch(() => undefined);
    }
  }

  async #count(admin: Admin): Promise<number> {
    const { group, topics } = this.#options;
    const readAtMs = performance.now();
    const committed = await admin.fetchOffsets({ groupId: group, topics });
    const ends = new Map<string, number>();
    let messages = 0;
    let hasHandled = true;
    for (const { topic, partitions } of committed) {
      const offsets = new Map(
        partitions.map(({ partition, offset }) => [partition, Number(offset)]),
      );
      for (const { partition, low, high } of await admin.fetchTopicOffsets(topic)) {
        // A group without a committed offset begins with the oldest message.
        const next = Math.max(offsets.get(partition) ?? -1, Number(low));
        messages += Math.max(0, Number(high) - next);
        const name = `${topic} ${partition}`;
        ends.set(name, Number(high));
        // A topic that was made anew ends before its former end.
        const end = Math.min(this.#ends?.byPartition.get(name) ?? 0, Number(high));
        if (next < end) hasHandled = false;
      }
    }
    if (this.#ends === undefined || hasHandled) {
      this.#handledUntilMs = this.#ends?.readAtMs ?? this.#handledUntilMs;
      this.#ends = { readAtMs, byPartition: ends };
    }
    return messages;
  }
}

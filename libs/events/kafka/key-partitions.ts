/** Which partition the messages of a key go to, by the last metadata of the topic. */
import { type ICustomPartitioner, Partitioners, type PartitionMetadata } from 'kafkajs';
import type { EventMessage } from '../message.ts';

export interface PartitionMessages {
  topic: string;
  partition: number;
  messages: EventMessage[];
}

export class KeyPartitions {
  /** The assignment of Kafka's own clients, by the hash of the key and the number of partitions. */
  readonly #assign = Partitioners.DefaultPartitioner();
  readonly #metadata = new Map<string, PartitionMetadata[]>();
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** The `createPartitioner` of a producer; keeps the metadata by which it assigns. */
  readonly createPartitioner: ICustomPartitioner = () => (assigned) => {
    this.#metadata.set(assigned.topic, assigned.partitionMetadata);
    return this.#assign(assigned);
  };

  /** Splits messages by their partitions, in their order; undefined while a topic's partitions are unknown. */
  split(messages: readonly EventMessage[]): PartitionMessages[] | undefined {
    const groups = new Map<string, PartitionMessages>();
    for (const message of messages) {
      const { topic } = message;
      const partition = this.partitionOf(message);
      if (partition === undefined) return undefined;
      const name = `${topic} ${partition}`;
      const group = groups.get(name) ?? { topic, partition, messages: [] };
      group.messages.push(message);
      groups.set(name, group);
    }
    return [...groups.values()];
  }

  /** Undefined while the topic's partitions are unknown. */
  partitionOf({ topic: name, key }: EventMessage): number | undefined {
    const topic = this.#prefix + name;
    const partitionMetadata = this.#metadata.get(topic);
    if (partitionMetadata === undefined) return undefined;
    return this.#assign({ topic, partitionMetadata, message: { key, value: null } });
  }
}

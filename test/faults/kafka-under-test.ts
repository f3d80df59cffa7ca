/** A Kafka of the run's own, to be stopped, started and emptied under Creditlane. */

import { ensureTopics } from '@creditlane/events/kafka/ensure-topics';
import { startTestCluster } from '@creditlane/events/kafka/test-kafka';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { findFreePorts } from '@creditlane/supervision/free-ports';

type Cluster = NonNullable<Awaited<ReturnType<typeof startTestCluster>>>;

export class KafkaUnderFault {
  readonly #size: 1 | 3;
  readonly #ports: number[];
  #cluster: Cluster;

  private constructor(size: 1 | 3, ports: number[], cluster: Cluster) {
    this.#size = size;
    this.#ports = ports;
    this.#cluster = cluster;
  }

  /** Undefined where there can be no Kafka; throws there when one is required. */
  static async start(size: 1 | 3 = 1): Promise<KafkaUnderFault | undefined> {
    const ports = await findFreePorts(2 * size);
    const cluster = await startTestCluster(size, { ports });
    return cluster && new KafkaUnderFault(size, ports, cluster);
  }

  /** By which services find it. */
  get env(): Record<string, string> {
    return { KAFKA_BROKERS: this.#cluster.brokers, KAFKA_REPLICATION: String(this.#size) };
  }

  /** Kills the first so many brokers, does what is to be done without them, and starts them again. */
  async without(count: number, work: () => Promise<void>): Promise<void> {
    const brokers = Array.from({ length: count }, (_, index) => index);
    for (const index of brokers) await this.#cluster.stopBroker(index);
    await work();
    // Each waits for the others' votes, so that they have to come up together.
    await Promise.all(brokers.map((index) => this.#cluster.startBroker(index)));
  }

  /** Kills it with all it holds, and starts an empty one at the same addresses, without topics. */
  async wipe(): Promise<void> {
    await this.#cluster.close();
    const cluster = await startTestCluster(this.#size, { ports: this.#ports });
    if (cluster === undefined) throw new Error('there was a Kafka, and there can be none now');
    this.#cluster = cluster;
  }

  makeTopics(): Promise<void> {
    const config = {
      brokers: this.#cluster.brokers.split(','),
      prefix: '',
      replication: this.#size,
    };
    return ensureTopics({ config, log: createLog('topics', { level: 'error' }) });
  }

  close(): Promise<void> {
    return this.#cluster.close();
  }
}

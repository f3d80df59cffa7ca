/** A Kafka cluster for fault runs, whose brokers can be stopped, started and emptied. */
import { ensureTopics } from '@creditlane/events/kafka/ensure-topics';
import { startTestCluster } from '@creditlane/events/kafka/test-kafka';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { findFreePorts } from '@creditlane/supervision/free-ports';

type Cluster = NonNullable<Awaited<ReturnType<typeof startTestCluster>>>;

export class KafkaUnderTest {
  readonly #brokerCount: 1 | 3;
  readonly #ports: number[];
  #cluster: Cluster;

  private constructor(brokerCount: 1 | 3, ports: number[], cluster: Cluster) {
    this.#brokerCount = brokerCount;
    this.#ports = ports;
    this.#cluster = cluster;
  }

  /**
   * Resolves with undefined on a machine without Kafka. Throws there when CREDITLANE_REQUIRE_KAFKA is
   * set.
   */
  static async start(brokerCount: 1 | 3 = 1): Promise<KafkaUnderTest | undefined> {
    const ports = await findFreePorts(2 * brokerCount);
    const cluster = await startTestCluster(brokerCount, { ports });
    return cluster && new KafkaUnderTest(brokerCount, ports, cluster);
  }

  /** The environment variables by which services find the cluster. */
  get env(): Record<string, string> {
    return { KAFKA_BROKERS: this.#cluster.brokers, KAFKA_REPLICATION: String(this.#brokerCount) };
  }

  /** Kills the first `count` brokers, runs `work`, and starts the brokers again, after a failure, too. */
  async withoutBrokers(count: number, work: () => Promise<void>): Promise<void> {
    const brokers = Array.from({ length: count }, (_, index) => index);
    for (const index of brokers) await this.#cluster.stopBroker(index);
    try {
      await work();
    } finally {
      // A starting broker waits for the votes of the others, so all must start at the same time.
      await Promise.all(brokers.map((index) => this.#cluster.startBroker(index)));
    }
  }

  /** Deletes the cluster with its data and starts an empty one, without topics, at the same ports. */
  async replaceWithEmpty(): Promise<void> {
    await this.#cluster.close();
    const cluster = await startTestCluster(this.#brokerCount, { ports: this.#ports });
    if (cluster === undefined) throw new Error('Kafka could not be started a second time');
    this.#cluster = cluster;
  }

  makeTopics(): Promise<void> {
    const config = {
      brokers: this.#cluster.brokers.split(','),
      prefix: '',
      replication: this.#brokerCount,
    };
    return ensureTopics({ config, log: createLog('topics', { level: 'error' }) });
  }

  close(): Promise<void> {
    return this.#cluster.close();
  }
}

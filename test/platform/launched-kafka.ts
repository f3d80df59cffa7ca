/** The Kafka of a platform of `npm run up`, as its clients know it from the platform's data directory. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { KAFKA_ADMIN } from '@creditlane/embedded-kafka/broker-access';
import type { KafkaConfig } from '@creditlane/events/kafka-config';
import { readJson } from '@creditlane/local/json-file';
import type { Secrets } from '@creditlane/platform/secrets';

export class LaunchedKafka {
  readonly #dataDir: string;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  /** The ports of the broker and of its controller. */
  async ports(): Promise<number[]> {
    const file = join(this.#dataDir, 'kafka/broker-0/server.properties');
    const [, listeners = ''] = /^listeners=(.*)$/m.exec(await readFile(file, 'utf8')) ?? [];
    return [...listeners.matchAll(/:(\d+)/g)].map(([, port]) => Number(port));
  }

  async config(username?: string, password = ''): Promise<KafkaConfig> {
    const [port] = await this.ports();
    const login = () => ({ username: username ?? '', password });
    const sasl = { mechanism: 'plain', login } as const;
    return { brokers: [`127.0.0.1:${port}`], prefix: '', ...(username && { sasl }) };
  }

  async secrets(): Promise<Secrets> {
    return (await readJson<Secrets>(join(this.#dataDir, 'secrets.json'))) as Secrets;
  }

  /** The configuration of a service, as its process has it. */
  async configOf(service: keyof Secrets['services']): Promise<KafkaConfig> {
    return this.config(service, (await this.secrets()).services[service].kafkaPassword);
  }

  async administrator(): Promise<KafkaConfig> {
    return this.config(KAFKA_ADMIN, (await this.secrets()).kafkaPassword);
  }
}

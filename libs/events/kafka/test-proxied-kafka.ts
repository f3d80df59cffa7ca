/** For the tests: a broker that is reached by a proxy alone, which can be frozen under a publish. */

import { startTcpProxy, type TcpProxy } from '@creditlane/runtime/test-tcp-proxy';
import { findFreePorts } from '@creditlane/supervision/free-ports';
import type { KafkaConfig } from '../kafka-config.ts';
import { startTestCluster } from './test-kafka.ts';

export interface ProxiedKafka {
  /** Topics of its own, by a proxy of its own. Of one test, which opens no other. */
  open(): Promise<{ config: KafkaConfig; proxy: TcpProxy }>;
  close(): Promise<void>;
}

/** Undefined where there can be no Kafka. */
export async function startProxiedKafka(): Promise<ProxiedKafka | undefined> {
  const [plain = 0, controller = 0, wired = 0] = await findFreePorts(3);
  const advertised = { 'advertised.listeners': `PLAINTEXT://127.0.0.1:${wired}` };
  const cluster = await startTestCluster(1, { ports: [plain, controller], properties: advertised });
  return (
    cluster && {
      async open() {
        const proxy = await startTcpProxy(plain, { port: wired });
        const config = await cluster.makeConfig(1);
        return { config: { ...config, brokers: [`127.0.0.1:${wired}`] }, proxy };
      },
      close: cluster.close,
    }
  );
}

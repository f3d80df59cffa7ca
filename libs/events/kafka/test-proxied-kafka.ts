/** For tests: a broker that clients reach only through a TCP proxy, which can be frozen. */

import { startTcpProxy, type TcpProxy } from '@creditlane/runtime/test-tcp-proxy';
import { findFreePorts } from '@creditlane/supervision/free-ports';
import type { KafkaConfig } from '../kafka-config.ts';
import { startTestCluster } from './test-kafka.ts';

export interface ProxiedKafka {
  /** Creates new topics and a new proxy. One proxy can be open at a time. */
  open(): Promise<{ config: KafkaConfig; proxy: TcpProxy }>;
  close(): Promise<void>;
}

/** Resolves to undefined where Kafka cannot run. */
export async function startProxiedKafka(): Promise<ProxiedKafka | undefined> {
  const [plain = 0, controller = 0, proxied = 0] = await findFreePorts(3);
  const advertised = { 'advertised.listeners': `PLAINTEXT://127.0.0.1:${proxied}` };
  const cluster = await startTestCluster(1, { ports: [plain, controller], properties: advertised });
  return (
    cluster && {
      async open() {
        const proxy = await startTcpProxy(plain, { port: proxied });
        const config = await cluster.makeConfig(1);
        return { config: { ...config, brokers: [`127.0.0.1:${proxied}`] }, proxy };
      },
      close: cluster.close,
    }
  );
}

// A cluster behind TLS and passwords, as the platform team's is.
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { freePorts } from './embedded-kafka.ts';
import { ensureTopics } from './kafka-topics.ts';
import { describeWith, startTestCluster } from './test-kafka.ts';
import { createTestBus, log } from './test-kafka-bus.ts';
import type { Topic } from './topics.ts';

const TOPIC: Topic = 'creditlane.decisions.v1';
const MESSAGE = { topic: TOPIC, key: 'a', headers: {}, value: Buffer.from('a') };
const STORE_PASSWORD = 'changeit';
/** The JDK's own tool, which is there where Kafka is. */
const KEYTOOL = 'keytool';

const folder = await mkdtemp(join(tmpdir(), 'creditlane-test-keys-'));
const [plain = 0, controller = 0, secure = 0] = await freePorts(3);
const store = join(folder, 'broker.p12');
const cluster = await startTestCluster(1, {
  ports: [plain, controller],
  properties: {
    listeners: `PLAINTEXT://127.0.0.1:${plain},CONTROLLER://127.0.0.1:${controller},SECURE://127.0.0.1:${secure}`,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURE:SASL_SSL',
    ...keyProperties(),
    'sasl.enabled.mechanisms': 'PLAIN',
    'listener.name.secure.plain.sasl.jaas.config':
      'org.apache.kafka.common.security.plain.PlainLoginModule required user_decisions="secret";',
  },
});
afterAll(async () => {
  await cluster?.close();
  await rm(folder, { recursive: true });
});

function keytool(...args: string[]): string {
  const where = ['-alias', 'broker', '-keystore', store, '-storepass', STORE_PASSWORD];
  return execFileSync(KEYTOOL, [...args, ...where], { encoding: 'utf8', stdio: 'pipe' });
}

/** Makes the broker's key. Without Java there is no tool, nor a broker that would need it. */
function keyProperties(): Record<string, string> {
  const subject = ['-dname', 'CN=broker', '-ext', 'san=ip:127.0.0.1'];
  try {
    keytool('-genkeypair', '-keyalg', 'EC', '-storetype', 'PKCS12', '-validity', '2', ...subject);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return {
    'ssl.keystore.type': 'PKCS12',
    'ssl.keystore.location': store,
    'ssl.keystore.password': STORE_PASSWORD,
  };
}

describeWith(cluster, 'a cluster behind TLS and passwords', () => {
  const ca = keytool('-exportcert', '-rfc');
  const sasl = { mechanism: 'plain', username: 'decisions', password: 'secret' } as const;
  const config = {
    brokers: [`127.0.0.1:${secure}`],
    prefix: '',
    tls: { ca },
    sasl,
  };

  test('lets in who trusts its authority and knows the password', async () => {
    const topics = { [TOPIC]: { partitions: 1, retentionMs: 60_000, replication: 1 } };
    await ensureTopics({ config, log, topics });
    const bus = createTestBus(config);
    await bus.publish([MESSAGE]);
    const handled = Promise.withResolvers<void>();
    const handle = async () => handled.resolve();
    await bus.subscribe({ group: 'webhook-dispatcher', topics: [TOPIC], handle });
    await handled.promise;
    await bus.close();
  });

  test('refuses another password, which ends the subscription for good', async () => {
    const crash = Promise.withResolvers<Error>();
    const wrong = { ...config, sasl: { ...sasl, password: 'wrong' } };
    const bus = createTestBus(wrong, { onCrash: crash.resolve });
    await expect(bus.publish([MESSAGE])).rejects.toThrow(/PLAIN authentication failed/);
    const handle = () => Promise.resolve();
    await bus.subscribe({ group: 'webhook-dispatcher', topics: [TOPIC], handle });
    expect((await crash.promise).message).toMatch(/consuming has ended: .*authentication failed/);
    await bus.close();
  });

  test('is not spoken to by who does not trust its authority', async () => {
    const bus = createTestBus({ ...config, tls: {} });
    await expect(bus.publish([MESSAGE])).rejects.toThrow(/self.signed certificate/);
    await bus.close();
  });
});

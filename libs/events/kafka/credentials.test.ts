// A cluster with TLS and passwords or client certificates, as in production.
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { kafkaClasspath } from '@creditlane/embedded-kafka/jars';
import { TestCertificateAuthority } from '@creditlane/runtime/test-certificate-authority';
import { silentLog } from '@creditlane/runtime/test-log';
import { findFreePorts } from '@creditlane/supervision/free-ports';
import { afterAll, describe, expect, type TestContext, test, vi } from 'vitest';
import type { KafkaConfig } from '../kafka-config.ts';
import type { Topic } from '../topics.ts';
import { ensureTopics } from './ensure-topics.ts';
import { describeWithKafka, startTestCluster } from './test-kafka.ts';
import { createTestBus } from './test-kafka-bus.ts';

const TOPIC: Topic = 'creditlane.decisions.v1';
const MESSAGE = { topic: TOPIC, key: 'a', headers: {}, value: Buffer.from('a') };
const GROUP = 'webhook-dispatcher';
const MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;
const WITHIN = { timeout: 15_000 };

const authority = new TestCertificateAuthority(afterAll);
const [plain = 0, controller = 0, secure = 0, mutual = 0] = await findFreePorts(4);
const LOGIN = 'org.apache.kafka.common.security';
const cluster = await startTestCluster(1, {
  ports: [plain, controller],
  properties: {
    listeners: [
      `PLAINTEXT://127.0.0.1:${plain}`,
      `CONTROLLER://127.0.0.1:${controller}`,
      `SECURE://127.0.0.1:${secure}`,
      `MUTUAL://127.0.0.1:${mutual}`,
    ].join(),
    'listener.security.protocol.map':
      'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURE:SASL_SSL,MUTUAL:SSL',
    ...certificateOf(authority),
    'listener.name.mutual.ssl.client.auth': 'required',
    'sasl.enabled.mechanisms': MECHANISMS.join().toUpperCase(),
    'listener.name.secure.plain.sasl.jaas.config': `${LOGIN}.plain.PlainLoginModule required user_decisions="secret";`,
    'listener.name.secure.scram-sha-256.sasl.jaas.config': `${LOGIN}.scram.ScramLoginModule required;`,
    'listener.name.secure.scram-sha-512.sasl.jaas.config': `${LOGIN}.scram.ScramLoginModule required;`,
  },
  scramUsers: ['256', '512'].map((bits) => `SCRAM-SHA-${bits}=[name=decisions,password=secret]`),
});
afterAll(() => cluster?.close());

/** The broker's settings for its certificate and for the authority of its clients' certificates. */
function certificateOf(issuer: TestCertificateAuthority) {
  const { cert, key, ca } = issuer.issue();
  const store = `${cert}.pem`;
  writeFileSync(store, readFileSync(key, 'utf8') + readFileSync(cert, 'utf8'));
  return {
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.location': store,
    'ssl.truststore.type': 'PEM',
    'ssl.truststore.location': ca,
  };
}

/** A bus for one test, and the messages that it has handled. */
async function openBus({ onTestFinished }: TestContext, config: KafkaConfig) {
  const bus = createTestBus(config);
  onTestFinished(() => bus.close());
  const handled: string[] = [];
  await bus.subscribe({
    group: GROUP,
    topics: [TOPIC],
    async handle(batch) {
      handled.push(...batch.map(({ key }) => key));
    },
  });
  return { bus, handled };
}

/** Creates the topic of the bus. */
async function createTopic(config: KafkaConfig) {
  const topics = { [TOPIC]: { partitions: 1, retentionMs: 60_000, replication: 1 } };
  await ensureTopics({ config, log: silentLog, topics });
}

/** Checks that creating a topic, publishing and consuming work. */
async function expectLetIn(context: TestContext, config: KafkaConfig) {
  await createTopic(config);
  const { bus, handled } = await openBus(context, config);
  await bus.publish([MESSAGE]);
  await vi.waitUntil(() => handled.length > 0, WITHIN);
  expect(bus.ready()).toBe(true);
}

/** Checks that the bus reports the reason and tries again: a subscription that ends would throw. */
async function expectRefused(context: TestContext, config: KafkaConfig, why: RegExp) {
  const { bus, handled } = await openBus(context, config);
  for (let times = 0; times < 2; times += 1) {
    await expect(bus.publish([MESSAGE])).rejects.toThrow(why);
  }
  expect(bus.ready()).toBe(`not consuming: ${GROUP}; not publishing`);
  return { bus, handled };
}

/** Waits until a bus that was refused publishes and consumes. */
async function expectAccepted({ bus, handled }: Awaited<ReturnType<typeof openBus>>) {
  const publishes = () =>
    bus.publish([MESSAGE]).then(
      () => true,
      () => false,
    );
  await vi.waitUntil(publishes, WITHIN);
  await vi.waitUntil(() => handled.length > 0, WITHIN);
  expect(bus.ready()).toBe(true);
}

describeWithKafka(cluster, 'a cluster with TLS', () => {
  const { ca, ...shown } = authority.issue();
  const tls = { ca: readFileSync(ca, 'utf8') };
  const certificate = {
    cert: readFileSync(shown.cert, 'utf8'),
    key: readFileSync(shown.key, 'utf8'),
  };
  let prefixes = 0;
  /** Each bus has a topic and a consumer group of its own, because the tests run at the same time: most of them wait. */
  const at = (port: number): KafkaConfig => {
    prefixes += 1;
    return { brokers: [`127.0.0.1:${port}`], prefix: `${prefixes}.`, tls: () => tls };
  };

  // The longest ones first.
  test.concurrent('is refused by a client that does not trust its authority', async (context) => {
    const why = /events could not be published: .*certificate/;
    await expectRefused(context, { ...at(secure), tls: () => ({}) }, why);
  });

  describe.concurrent('with certificates', () => {
    test('accepts a client with a certificate of its authority', async (context) => {
      await expectLetIn(context, { ...at(mutual), tls: () => ({ ...tls, ...certificate }) });
    });

    test('refuses a client without a certificate, which tries again', async (context) => {
      const why = /events could not be published: .*require a client certificate .*KAFKA_SSL_CERT/;
      await expectRefused(context, at(mutual), why);
    });
  });

  test.concurrent('accepts a client that it refused before, without a restart, once the user exists', async (context) => {
    const mechanism = 'scram-sha-512' as const;
    const sasl = { mechanism, login: () => ({ username: 'late', password: 'comer' }) };
    const config = { ...at(secure), sasl };
    const login = { username: 'decisions', password: 'secret' };
    await createTopic({ ...config, sasl: { mechanism, login: () => login } });
    const refused = await expectRefused(context, config, /authentication failed/);
    const known = 'SCRAM-SHA-512=[password=comer]';
    const where = ['--bootstrap-server', `127.0.0.1:${plain}`, '--entity-type', 'users'];
    await promisify(execFile)('java', [
      ...['-cp', await kafkaClasspath(), 'kafka.admin.ConfigCommand', ...where],
      ...['--entity-name', 'late', '--alter', '--add-config', known],
    ]);
    await expectAccepted(refused);
  });

  describe.concurrent.each(MECHANISMS)('with passwords by %s', (mechanism) => {
    const login = { username: 'decisions', password: 'secret' };
    const sasl = { mechanism, login: () => login };

    test('accepts a client that trusts its authority and has the password', async (context) => {
      await expectLetIn(context, { ...at(secure), sasl });
    });

    test.for([
      { what: 'another password', wrong: { password: 'wrong' } },
      { what: 'another name', wrong: { username: 'nobody' } },
    ])(
      'refuses $what, and is waited for until the login is the right one',
      async ({ wrong }, context) => {
        const config = at(secure);
        await createTopic({ ...config, sasl });
        const name = mechanism
          .toUpperCase()
          .replace('SHA-', 'SHA-?')
          .replace('SCRAM-', 'SCRAM[ -]');
        const why = new RegExp(`events could not be published: .*${name} authentication failed`);
        let given = { ...login, ...wrong };
        const withGiven = { ...config, sasl: { mechanism, login: () => given } };
        const refused = await expectRefused(context, withGiven, why);
        given = login;
        await expectAccepted(refused);
      },
    );
  });
});

// The values that the chart refuses.
import { describe, expect, test } from 'vitest';
import { findHelm, runHelm } from './helm.ts';

const helm = (await findHelm()) ?? '';

/** Helm names every violation of the schema at once. */
const WRONG = {
  postgres: { host: '' },
  kafka: { brokers: [] },
  netwrokPolicy: {},
  image: { tagg: 'x', digest: 'latest' },
  defaults: { replicas: 'two' },
  services: {
    decision: {},
    gateway: { settings: { LOG_LEVL: 'info' } },
    conversations: { settings: { LEASE: '6s' } },
    applications: {
      settings: { KEY_RING: 'k' },
      secretFiles: { REQUEST_DIGEST_KEY: { secret: 'other', key: 'key' } },
    },
    decisions: { settings: { DATABASE_URL: 'x' }, database: 'x', calls: [] },
  },
  publicAddresses: [{ cidr: '0.0.0.0/0', except: [] }],
};

const ADDRESSES = { postgres: { host: '10.1.2.3' }, kafka: { brokers: ['10.1.2.4:9092'] } };

async function refusalOf(values: object, release = 'test'): Promise<string> {
  const output = runHelm(helm, ['template', release], values);
  return output.then(() => 'nothing refused').catch((error: Error) => error.message);
}

describe.skipIf(!helm)('the chart refuses', () => {
  const refused = helm === '' ? Promise.resolve('') : refusalOf(WRONG);

  test.each([
    ['no address of PostgreSQL', "'/postgres/host'"],
    ['no address of Kafka', "'/kafka/brokers'"],
    ['an unknown name', "'netwrokPolicy' not allowed"],
    ['an unknown name further down', "'tagg' not allowed"],
    ['a digest that is none', "'/image/digest'"],
    ['a wrong kind of value', "'/defaults/replicas'"],
    ['an unknown service', "'decision' not allowed"],
    ['an unknown setting', "'LOG_LEVL' not allowed"],
    ['a setting of another service', "'LEASE' not allowed"],
    ['a secret in plain text', "'KEY_RING' not allowed"],
    ['a secret of its own Secret from another one', "'REQUEST_DIGEST_KEY' not allowed"],
    ['a setting that the chart derives', "'DATABASE_URL' not allowed"],
    ['another database than the manifest names', "'/services/decisions/database'"],
    ['another peer than the manifest names', "'/services/decisions/calls'"],
    ['further public addresses', "'/publicAddresses'"],
  ])('%s', async (_, message) => {
    expect(await refused).toContain(message);
  });

  test('a host whose addresses for network policies are unknown', async () => {
    const postgres = { host: 'db.example.com', sslMode: 'verify-full' };
    const message = 'postgres.peers is needed for network policies';
    const kafka = { brokers: ['10.1.2.4:9092'], tls: true };
    expect(await refusalOf({ postgres, kafka })).toContain(message);
  });

  test('unencrypted connections, unless a value permits them', async () => {
    const { postgres, kafka } = ADDRESSES;
    const encrypted = { ...postgres, sslMode: 'verify-full' };
    expect(await refusalOf(ADDRESSES)).toContain('postgres.sslMode is needed');
    expect(await refusalOf({ kafka, postgres: encrypted })).toContain('kafka.tls is needed');
    const withTls = { postgres: encrypted, kafka: { ...kafka, tls: true } };
    expect(await refusalOf(withTls)).toBe('nothing refused');
    expect(await refusalOf({ ...ADDRESSES, allowPlaintext: true })).toBe('nothing refused');
  });

  test('a release whose name makes names of Services too long', async () => {
    const release = `creditlane-${'x'.repeat(34)}`;
    const addresses = { ...ADDRESSES, allowPlaintext: true };
    expect(await refusalOf(addresses, release)).toContain(
      `a Service's name has at most 63 characters, and ${release}-webhook-dispatcher has 64`,
    );
    expect(await refusalOf(addresses, release.slice(0, -1))).toBe('nothing refused');
  });
});

/** What the platform team has beside the cluster: PostgreSQL, three Kafka brokers, and the secrets of an installation. */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { secretManifests } from '@creditlane/chart/secret-manifests';
import { composeVariables } from '@creditlane/compose/env-file';
import { generateApiKey } from '@creditlane/crypto/api-key';
import { KEY_BYTES } from '@creditlane/crypto/key-ring';
import { startKafka } from '@creditlane/embedded-kafka/embedded-kafka';
import { startEmbeddedPostgres } from '@creditlane/embedded-postgres/embedded-postgres';
import { platformKeyDigest } from '@creditlane/platform/secrets';
import {
  DATABASES,
  type DatabaseOwner,
  SERVICES,
  usesKafka,
  variableOf,
} from '@creditlane/platform/services';
import { HOST_ADDRESS } from './kubernetes/network.ts';

const POSTGRES_PORT = 5432;
const KAFKA_PORTS = [9092, 9093, 9094, 9192, 9193, 9194];

/** Brokers on a machine whose processors are all busy are late, not dead: they would elect leaders without an end. */
const PATIENT = {
  'initial.broker.registration.timeout.ms': 180_000,
  'broker.session.timeout.ms': 60_000,
  // The first leader is elected after one to two of these.
  'controller.quorum.election.timeout.ms': 2_000,
  'controller.quorum.fetch.timeout.ms': 20_000,
  'controller.quorum.request.timeout.ms': 20_000,
};

export interface OutsidePlatform {
  /** Values of the chart. */
  values: object;
  /** Every secret of the installation, by its name in deploy/.env. */
  variables: Readonly<Record<string, string>>;
  /**
   * Begins to replace secrets that pods follow: the key ring has a further key behind its first, and a second key of the
   * platform administration is valid.
   */
  addKeys(): void;
  /** Puts the new key first in the ring, and makes the new key of the administration the PLATFORM_KEY. */
  useNewKeys(): void;
  /** Removes the earlier keys. */
  removeOldKeys(): void;
  /** The Secrets as YAML. */
  secrets(prefix: string): string;
  /** The URL of a service's database, from here. */
  databaseUrl(owner: DatabaseOwner): Promise<string>;
  close(): Promise<void>;
}

export async function startOutsidePlatform(dir: string): Promise<OutsidePlatform> {
  const variables = { ...composeVariables(SERVICES) };
  const secret = (name: string) => variables[name] ?? '';
  const password = secret('POSTGRES_PASSWORD');
  // By default the server admits clients of the machine only.
  const hba = join(dir, 'pg_hba.conf');
  await writeFile(hba, 'host all all all scram-sha-256\n', { mode: 0o644 });
  const postgres = await startEmbeddedPostgres({
    dataDir: join(dir, 'postgres'),
    password,
    port: POSTGRES_PORT,
    settings: {
      listen_addresses: `127.0.0.1,${HOST_ADDRESS}`,
      hba_file: hba,
      // Each replica has a pool, and during an upgrade there are more replicas.
      max_connections: '500',
      // The 5 s of development are too short while some twenty processes start on two processors.
      authentication_timeout: '60s',
    },
  });
  const users = SERVICES.filter(usesKafka).map(({ name }) => [
    name,
    secret(variableOf(name, 'KAFKA_PASSWORD')),
  ]);
  const access = { admin: secret('KAFKA_PASSWORD'), users: Object.fromEntries(users) };
  const kafka = await startKafka({
    brokers: 3,
    dataDir: join(dir, 'kafka'),
    host: HOST_ADDRESS,
    ports: KAFKA_PORTS,
    access,
    properties: PATIENT,
  });
  const renewed = {
    ring: `renewed:${randomBytes(KEY_BYTES).toString('base64')}`,
    platformKey: generateApiKey(false),
  };
  const admin = new URL(postgres.adminUrl);
  admin.hostname = HOST_ADDRESS;
  return {
    values: {
      allowPlaintext: true,
      postgres: { host: HOST_ADDRESS },
      kafka: { brokers: kafka.brokers.split(','), replication: 3, saslMechanism: 'plain' },
      databases: { enabled: true },
      topics: { access: true },
    },
    variables,
    addKeys() {
      const digests = [secret('PLATFORM_KEY_DIGESTS'), platformKeyDigest(renewed)];
      variables.KEY_RING = `${secret('KEY_RING')},${renewed.ring}`;
      variables.PLATFORM_KEY_DIGESTS = digests.join(',');
    },
    useNewKeys() {
      variables.KEY_RING = secret('KEY_RING').split(',').reverse().join(',');
      variables.PLATFORM_KEY = renewed.platformKey;
    },
    removeOldKeys() {
      variables.KEY_RING = renewed.ring;
      variables.PLATFORM_KEY_DIGESTS = platformKeyDigest(renewed);
    },
    secrets: (prefix) =>
      secretManifests(SERVICES, variables, { prefix, adminDatabaseUrl: admin.href }),
    async databaseUrl(owner) {
      const url = new URL(postgres.adminUrl);
      url.username = DATABASES[owner];
      url.password = secret(variableOf(owner, 'DATABASE_PASSWORD'));
      url.pathname = `/${DATABASES[owner]}`;
      return url.href;
    },
    close: async () => {
      await kafka.close();
      await postgres.close();
    },
  };
}

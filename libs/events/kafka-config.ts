/** The settings of the Kafka cluster: addresses, credentials, prefix of our topics and groups, replication. */
import type { EnvReader } from '@creditlane/runtime/env';
import { ALLOW_PLAINTEXT, isThisMachine } from '@creditlane/runtime/plaintext';
import { type Setting, setting, variablesOf } from '@creditlane/runtime/setting';

export interface KafkaConfig {
  /** Some of the cluster's addresses, `host:port`; the brokers name the others. */
  brokers: string[];
  /**
   * Set to use TLS. The certificates and the key are PEM, read for each new connection; without `ca` those of Node's
   * own list are trusted.
   */
  tls?: () => { ca?: string; cert?: string; key?: string };
  /** The login is read for each new connection. */
  sasl?: { mechanism: SaslMechanism; login: () => KafkaLogin };
  /** Put before the names of topics and groups, where several installations share a cluster. */
  prefix: string;
  /** How many brokers store each message; the number that TOPICS declares when left out. */
  replication?: number;
}

export interface KafkaLogin {
  username: string;
  password: string;
}

type SaslMechanism = (typeof MECHANISMS)[number];

const MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;

const text = (name: string, options: { about: string; default?: string; secret?: boolean }) =>
  setting.renewed(name, (value) => value, { type: 'text', ...options });

const settings = {
  brokers: setting.list('KAFKA_BROKERS', {
    about: "Some of the cluster's addresses, `host:port` separated by commas.",
  }),
  ssl: setting.boolean('KAFKA_SSL', {
    default: false,
    about:
      'Whether to connect to brokers by TLS. Without it the brokers are on this machine, or ALLOW_PLAINTEXT is set.',
  }),
  allowPlaintext: ALLOW_PLAINTEXT,
  ca: text('KAFKA_SSL_CA', {
    default: '',
    about:
      "The PEM of the brokers' authority; without it, the authorities of Node's own list and of NODE_EXTRA_CA_CERTS are trusted.",
  }),
  cert: text('KAFKA_SSL_CERT', {
    default: '',
    about: 'The PEM of the certificate that the process presents to brokers.',
  }),
  mechanism: setting.oneOf('KAFKA_SASL_MECHANISM', ['none', ...MECHANISMS], {
    default: 'none',
    about: 'How the process authenticates to brokers.',
  }),
  prefix: setting.string('KAFKA_PREFIX', {
    default: '',
    about: 'Put before the names of topics and groups, where installations share a cluster.',
  }),
  replication: setting.integer('KAFKA_REPLICATION', {
    default: 0,
    min: 0,
    max: 10,
    about: 'How many brokers store each message; 0 means the number that the topic declares.',
  }),
};

/** Required only with KAFKA_SSL_CERT or with a SASL mechanism. */
const credentials = {
  key: text('KAFKA_SSL_KEY', {
    secret: true,
    about: 'The PEM of the key of KAFKA_SSL_CERT; needed with it.',
  }),
  username: text('KAFKA_SASL_USERNAME', { about: 'Needed with a SASL mechanism.' }),
  password: text('KAFKA_SASL_PASSWORD', {
    secret: true,
    about: 'Needed with a SASL mechanism.',
  }),
};

/** The settings of every process that publishes or consumes events. */
export const KAFKA: Setting<KafkaConfig> = {
  variables: [
    ...variablesOf(settings),
    ...variablesOf(credentials).map((variable) => ({ ...variable, default: '' })),
  ],
  read: readKafkaConfig,
};

function readKafkaConfig(env: EnvReader): KafkaConfig {
  const brokers = settings.brokers.read(env);
  const tls = settings.ssl.read(env) && readTls(env);
  const mechanism = settings.mechanism.read(env);
  const replication = settings.replication.read(env);
  if (!(tls || settings.allowPlaintext.read(env) || brokers.every(isOnThisMachine))) {
    return env.refused('KAFKA_SSL', 'true, unless ALLOW_PLAINTEXT is true');
  }
  return {
    brokers,
    prefix: settings.prefix.read(env),
    ...(tls && { tls }),
    ...(mechanism !== 'none' && {
      sasl: { mechanism, login: readLogin(env) },
    }),
    ...(replication > 0 && { replication }),
  };
}

function isOnThisMachine(broker: string): boolean {
  return isThisMachine(broker.replace(/:\d+$/, ''));
}

function readLogin(env: EnvReader): () => KafkaLogin {
  const username = credentials.username.read(env);
  const password = credentials.password.read(env);
  return () => ({ username: username(), password: password() });
}

function readTls(env: EnvReader): KafkaConfig['tls'] {
  const ca = settings.ca.read(env);
  const cert = settings.cert.read(env);
  // A certificate without its key is a fault of the configuration.
  const key = cert() && credentials.key.read(env);
  return () => ({
    ...(ca() && { ca: ca() }),
    ...(key && { cert: cert(), key: key() }),
  });
}

/** Where the Kafka cluster is, how to get in, and what in it is ours. */
import type { EnvReader } from '@creditlane/runtime/env';

export interface KafkaConfig {
  /** Some of the cluster's addresses, `host:port`; the brokers tell of the others. */
  brokers: string[];
  /** TLS; its texts are PEM. Without `ca` the system's authorities are trusted. */
  tls?: { ca?: string; cert?: string; key?: string };
  sasl?: { mechanism: SaslMechanism; username: string; password: string };
  /** Put before the names of topics and groups, where several installations share a cluster. */
  prefix: string;
  /** How many brokers hold each message, where that is not what TOPICS says. */
  replication?: number;
}

type SaslMechanism = (typeof MECHANISMS)[number];

const MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;

/**
 * Reads `KAFKA_BROKERS` (addresses separated by commas), and where they are needed `KAFKA_SSL`,
 * `KAFKA_SSL_CA`, `KAFKA_SSL_CERT` with `KAFKA_SSL_KEY`, `KAFKA_SASL_MECHANISM` with
 * `KAFKA_SASL_USERNAME` and `KAFKA_SASL_PASSWORD`, `KAFKA_PREFIX` and `KAFKA_REPLICATION`.
 */
export function readKafkaConfig(read: EnvReader): KafkaConfig {
  const brokers = read.list('KAFKA_BROKERS');
  const tls = read.boolean('KAFKA_SSL', false) && readTls(read);
  const mechanism = read.oneOf('KAFKA_SASL_MECHANISM', ['none', ...MECHANISMS], 'none');
  const replication = read.integer('KAFKA_REPLICATION', { default: 0, min: 0, max: 10 });
  return {
    brokers,
    prefix: read.string('KAFKA_PREFIX', ''),
    ...(tls && { tls }),
    ...(mechanism !== 'none' && {
      sasl: {
        mechanism,
        username: read.string('KAFKA_SASL_USERNAME'),
        password: read.string('KAFKA_SASL_PASSWORD'),
      },
    }),
    ...(replication > 0 && { replication }),
  };
}

function readTls(read: EnvReader): KafkaConfig['tls'] {
  const ca = read.string('KAFKA_SSL_CA', '');
  const cert = read.string('KAFKA_SSL_CERT', '');
  return {
    ...(ca && { ca }),
    // Whoever shows a certificate needs its key: a missing one is a fault of the configuration.
    ...(cert && { cert, key: read.string('KAFKA_SSL_KEY') }),
  };
}

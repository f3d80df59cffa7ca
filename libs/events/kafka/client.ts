/** The Kafka client: addresses, credentials, retries, and the kinds of errors. */

import type { ConnectionOptions } from 'node:tls';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { LoggableError } from '@creditlane/runtime/telemetry/loggable-error';
import { type ISocketFactory, Kafka, logLevel, type SASLOptions } from 'kafkajs';
import type { KafkaConfig } from '../kafka-config.ts';

/**
 * How kafkajs retries the search for brokers and partition leaders. Few retries, because each caller
 * repeats its own work; every field is set, because the defaults of kafkajs depend on NODE_ENV.
 */
export const CLIENT_RETRY = {
  initialRetryTime: 100,
  factor: 0.2,
  multiplier: 2,
  maxRetryTime: 1_000,
  retries: 5,
};

/**
 * How long a client knows the partitions of a topic without asking again. Consumers begin with the partitions that
 * `raisePartitions` adds, and producers use them, within this time.
 */
export const METADATA_MAX_AGE_MS = 10_000;

/** Creates a client that is not connected yet. `socketFactory` replaces the connections of kafkajs. */
export function createClient(config: KafkaConfig, log: Log, socketFactory?: ISocketFactory): Kafka {
  return new Kafka({
    ...(socketFactory && { socketFactory }),
    clientId: 'creditlane',
    brokers: config.brokers,
    ...(config.tls && { ssl: tlsOptions(config.tls) }),
    ...(config.sasl && { sasl: saslOptions(config.sasl) }),
    connectionTimeout: 3_000,
    requestTimeout: 15_000,
    retry: CLIENT_RETRY,
    logLevel: logLevel.WARN,
    // kafkajs logs an error for each attempt; the error of the last attempt is thrown.
    logCreator:
      () =>
      ({ namespace, log: entry }) =>
        log.debug({ namespace, broker: entry.broker, groupId: entry.groupId }, entry.message),
  });
}

/** kafkajs reads the options anew for each connection: the getters give those of its moment. */
function tlsOptions(tls: NonNullable<KafkaConfig['tls']>): ConnectionOptions {
  // Also when NODE_TLS_REJECT_UNAUTHORIZED is 0.
  const options = { rejectUnauthorized: true };
  for (const name of ['ca', 'cert', 'key'] as const) {
    Object.defineProperty(options, name, { enumerable: true, get: () => tls()[name] });
  }
  return options;
}

/**
 * As `tlsOptions`. Each mechanism of KafkaConfig takes a user name and a password, which the type SASLOptions, a union over
 * all mechanisms, does not express.
 */
function saslOptions({ mechanism, login }: NonNullable<KafkaConfig['sasl']>): SASLOptions {
  return {
    mechanism,
    get username() {
      return login().username;
    },
    get password() {
      return login().password;
    },
  } as SASLOptions;
}

const ACCESS_ERRORS = /AUTHENTICATION_FAILED|AUTHORIZATION_FAILED/;

/**
 * Whether the cluster refuses the credentials or the access. Consumers retry after such a refusal, because
 * an operator can grant the access in the cluster: a new cluster has no users at first.
 */
export function isAccessRefused(error: unknown): boolean {
  return hasCause(
    error,
    ({ name, type }) =>
      name === 'KafkaJSSASLAuthenticationError' || ACCESS_ERRORS.test(String(type)),
  );
}

/** Whether a retry may succeed: a broker is unavailable, or a topic does not exist yet. */
export function isRetriable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { cause } = error;
  if (cause instanceof Error) return isRetriable(cause);
  return (error as { retriable?: boolean }).retriable === true || isSystemError(error);
}

const COORDINATOR_LOADING = /^GROUP_(LOAD_IN_PROGRESS|COORDINATOR_NOT_AVAILABLE)$/;

/** Whether the broker of a consumer group is not ready yet, as in a new cluster and after its restart. */
export function isCoordinatorLoading(error: unknown): boolean {
  return hasCause(error, ({ type }) => COORDINATOR_LOADING.test(String(type)));
}

const TOO_LARGE = /^(MESSAGE|RECORD_LIST)_TOO_LARGE$/;

/** Whether the messages of a request for one partition are larger together than the topic or the broker permits. */
export function isTooLarge(error: unknown): boolean {
  return hasCause(error, ({ type }) => TOO_LARGE.test(String(type)));
}

/** Whether the error, or one of its causes, passes `test`. The errors of the Kafka protocol have a `type`. */
function hasCause(error: unknown, test: (error: Error & { type?: unknown }) => boolean): boolean {
  return error instanceof Error && (test(error) || hasCause(error.cause, test));
}

function isSystemError(error: Error): boolean {
  return typeof (error as NodeJS.ErrnoException).syscall === 'string';
}

/** The names of the errors of kafkajs and of KafkaError. */
const KAFKA_ERROR_NAMES = /^Kafka(JS|Error$)/;
/** The TLS alerts of brokers that require a client certificate. */
const CERTIFICATE_ALERT = /alert (bad certificate|certificate required)/;

/** An error of Kafka. The log may show its message, which names brokers, topics and states. */
export class KafkaError extends LoggableError {
  constructor(what: string, cause: unknown) {
    const isKafkaError = cause instanceof Error && KAFKA_ERROR_NAMES.test(cause.name);
    const message = isKafkaError ? `${what}: ${cause.message.trim()}` : what;
    const advice = '; the brokers require a client certificate of their authority (KAFKA_SSL_CERT)';
    super(CERTIFICATE_ALERT.test(message) ? message + advice : message, { cause });
  }
}

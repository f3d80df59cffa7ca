/** How this process speaks to Kafka: addresses, credentials, patience, and where the library's words go. */
import type { Log } from '@creditlane/runtime/telemetry/log';
import { type ISocketFactory, Kafka, logLevel, type SASLOptions } from 'kafkajs';
import type { KafkaConfig } from '../kafka-config.ts';

/**
 * For finding brokers and their leaders. Short, because whoever asks has a loop of his own that
 * tries again; every field is given, because the library's defaults change with NODE_ENV.
 */
export const CLIENT_RETRY = {
  initialRetryTime: 100,
  factor: 0.2,
  multiplier: 2,
  maxRetryTime: 1_000,
  retries: 5,
};

/** A client that has not connected yet; its connections are its own unless somebody makes them for it. */
export function createClient(config: KafkaConfig, log: Log, socketFactory?: ISocketFactory): Kafka {
  return new Kafka({
    ...(socketFactory && { socketFactory }),
    clientId: 'creditlane',
    brokers: config.brokers,
    ...(config.tls && { ssl: config.tls }),
    // A copy, because the library writes into it. Each of our mechanisms takes a name and a
    // password, which the union of them all cannot say.
    ...(config.sasl && { sasl: { ...config.sasl } as SASLOptions }),
    connectionTimeout: 3_000,
    requestTimeout: 15_000,
    retry: CLIENT_RETRY,
    logLevel: logLevel.WARN,
    // What it calls an error is often the first of several tries; what fails in the end is thrown.
    logCreator:
      () =>
      ({ namespace, log: entry }) =>
        log.debug({ namespace, broker: entry.broker, groupId: entry.groupId }, entry.message),
  });
}

const REFUSALS = /AUTHENTICATION_FAILED|AUTHORIZATION_FAILED/;

/**
 * Whether the cluster refuses us or our name. It takes a person to mend that, but there, and not here:
 * a cluster that is set up anew has no users at first.
 */
export function isAccessRefused(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.name === 'KafkaJSSASLAuthenticationError') return true;
  if (REFUSALS.test(String((error as { type?: unknown }).type))) return true;
  return isAccessRefused(error.cause);
}

/** Whether waiting may mend it: a broker away, a topic not yet made. */
export function isRetriable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { cause } = error;
  if (cause instanceof Error) return isRetriable(cause);
  return (error as { retriable?: boolean }).retriable === true || isSystemError(error);
}

function isSystemError(error: Error): boolean {
  return typeof (error as NodeJS.ErrnoException).syscall === 'string';
}

/** The library's, and our own. */
const OURS = /^Kafka(JS|Error$)/;
/** What brokers say by TLS to who shows no certificate, or not a good one. */
const WANTS_CERTIFICATE = /alert (bad certificate|certificate required)/;

/** An error of Kafka's side as the log may show it: its messages name brokers, topics and states. */
export class KafkaError extends Error {
  override name = 'KafkaError';
  readonly loggable = true;

  constructor(what: string, cause: unknown) {
    const known = cause instanceof Error && OURS.test(cause.name);
    const said = known ? `${what}: ${cause.message.trim()}` : what;
    const advice = '; the brokers want a certificate of their authority (KAFKA_SSL_CERT)';
    super(WANTS_CERTIFICATE.test(said) ? said + advice : said, { cause });
  }
}

// Errors of a start that the user can mend, each with a message of one line.
import { KafkaBrokerError } from '@creditlane/embedded-kafka/broker';
import { KafkaSizeError } from '@creditlane/embedded-kafka/embedded-kafka';
import { KafkaUnavailableError } from '@creditlane/embedded-kafka/jars';
import { EmbeddedPostgresError } from '@creditlane/embedded-postgres/error';
import { DatabaseNewerError } from '@creditlane/postgres/migrate';
import { LoggableError } from '@creditlane/runtime/telemetry/loggable-error';

/** Creditlane cannot start here; the message is the one line that tells the person why. */
export class StartError extends LoggableError {}

/** Errors whose messages a user understands; `remedyOf` adds what a command's options can do about them. */
const EXPLAINED = [
  EmbeddedPostgresError,
  DatabaseNewerError,
  KafkaUnavailableError,
  KafkaBrokerError,
];

/** Even to delete the data, `--reset` needs some KiB: the lock of the data directory is a file. */
const DISK_FULL =
  'The disk is full. Delete something on it, such as inbox.jsonl in the data directory (the webhooks received so far), ' +
  'and try again.';

/** The error to end with: a StartError where the user can do something about it. */
export function explain(error: unknown): unknown {
  if (EXPLAINED.some((kind) => error instanceof kind) && error instanceof Error) {
    return new StartError([error.message, ...remedyOf(error)].join(' '));
  }
  const { code, port, syscall } = error as NodeJS.ErrnoException & { port?: number };
  if (code === 'ENOSPC') return new StartError(DISK_FULL);
  if (code === 'EADDRINUSE' && syscall === 'listen') {
    return new StartError(`Port ${port} is in use. Choose another with --port.`);
  }
  return error;
}

function remedyOf(error: Error): string[] {
  if (error instanceof KafkaSizeError) {
    // A directory from which somebody deleted a folder has a number that no option takes.
    const isOption = error.brokers === 1 || error.brokers === 3;
    const keep = isOption ? `Start with --brokers ${error.brokers}, or` : 'Start';
    return [`${keep} with --reset, which deletes all data.`];
  }
  if (error instanceof EmbeddedPostgresError && error.reason === 'data_dir_of_other_version') {
    return [
      'Use the version of Creditlane that made it, or start with --reset, which deletes all data.',
    ];
  }
  return [];
}

import { EmbeddedPostgresError } from '@creditlane/postgres/embedded-error';
import { DatabaseNewerError } from '@creditlane/postgres/migrate';

/** Creditlane cannot start here; the message is the one line that tells the person why. */
export class StartError extends Error {
  override readonly name = 'StartError';
  /** The message holds no data of anybody's, so the log may show it. */
  readonly loggable = true;
}

/** The error to end with: what a person can do something about becomes a StartError. */
export function explain(error: unknown): unknown {
  if (error instanceof EmbeddedPostgresError || error instanceof DatabaseNewerError) {
    return new StartError(error.message);
  }
  const { code, port, syscall } = error as NodeJS.ErrnoException & { port?: number };
  if (code === 'ENOSPC') return new StartError('The disk is full.');
  if (code === 'EADDRINUSE' && syscall === 'listen') {
    return new StartError(`Port ${port} is in use. Choose another with --port.`);
  }
  return error;
}

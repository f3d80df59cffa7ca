/** What TypeORM may say: nothing to the console, and no statement, for it shows their parameters. */
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Logger } from 'typeorm';

/** Warnings go to the service's log. Failures come as errors to whoever asked, and are theirs to log. */
export function typeormLog(log: Log): Logger {
  const nothing = () => undefined;
  return {
    logQuery: nothing,
    logQueryError: nothing,
    logQuerySlow: nothing,
    logSchemaBuild: nothing,
    logMigration: nothing,
    log: (level, message) => {
      if (level === 'warn') log.warn(String(message));
    },
  };
}

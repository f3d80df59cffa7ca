/** A logger for TypeORM that writes warnings only: a logged statement would show its parameters. */
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Logger } from 'typeorm';

/** Writes TypeORM's warnings to the service's log. Errors are thrown to the caller, which logs them. */
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

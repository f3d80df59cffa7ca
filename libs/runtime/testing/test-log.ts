import { createLog } from '../telemetry/log.ts';

/** A log that writes nothing, for tests that do not read log entries. */
export const silentLog = createLog('test', { level: 'silent' });

/** Reads the retry schedule as an operator writes it: "5s,5m,30m,2h". */
import { parseDurationMs } from '@creditlane/runtime/env';
import { LoggableError } from '@creditlane/runtime/telemetry/loggable-error';

const MAX_DELAYS = 50;
/** The due time of a delivery must be one that PostgreSQL can store. */
const MAX_DELAY = '3650d';

class RetryDelaysError extends LoggableError {}

/** The delays in milliseconds. Throws when an item is no time span of at most 3,650 days, or when there are more than 50. */
export function parseDelays(text: string): number[] {
  const delays = text.split(',').map((item) => {
    const delayMs = parseDurationMs(item.trim());
    if (delayMs <= parseDurationMs(MAX_DELAY)) return delayMs;
    throw new RetryDelaysError(`must be time spans of at most ${MAX_DELAY}, such as 5s,5m,2h`);
  });
  if (delays.length > MAX_DELAYS) throw new RetryDelaysError(`must be at most ${MAX_DELAYS}`);
  return delays;
}

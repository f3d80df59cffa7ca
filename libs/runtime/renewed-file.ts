/** The value of a file that another process replaces while this one runs, such as a mounted secret. */
import { channel } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import { LoggableError } from './telemetry/loggable-error.ts';

/** The current value. A file is read at once when `isOutdated` says so of the value that is known; see `renewedFile`. */
export type Renewed<T> = (isOutdated?: (value: T) => boolean) => T;

/** How soon a new secret is used, beside the time that the kubelet takes to write it. */
const CHECK_INTERVAL_MS = 5_000;
/**
 * Reads for callers that know their value to be outdated: ten at once, and then one every 100 ms. What a caller knows may
 * come from a client, such as a key id that no ring has, and each read holds the event loop.
 */
const EARLY_READS = 10;
const EARLY_READ_INTERVAL_MS = 100;

/** A file of a setting that has a new text, which cannot be used. */
export interface RefusedRenewal {
  path: string;
  err: unknown;
}

/** Gets a `RefusedRenewal` once for each such text, and once when the file cannot be read; `run` logs them. */
export const refusedRenewals = channel('creditlane:refused-renewal');

/**
 * A function for the value of a file that another process replaces, such as a mounted secret. The file is read again
 * when the function is called, at most every five seconds, or sooner for a caller that knows its value to be outdated, within
 * the limit of early reads. While the file cannot be read or parsed, the last value stays, and `refusedRenewals` gets the
 * reason.
 *
 * @param first the text of the file when it was read first, and its value
 */
export function renewedFile<T>(
  path: string,
  parse: (text: string) => T,
  first: { text: string; value: T },
  intervalMs = CHECK_INTERVAL_MS,
): Renewed<T> {
  let current = first.value;
  // The text that was read last, used or refused; undefined when the file could not be read.
  let last: string | undefined = first.text;
  let checkedMs = performance.now();
  // Until when the early reads made so far use up the limit.
  let earlyUntilMs = checkedMs;
  const mayReadEarly = (nowMs: number): boolean => {
    const untilMs = Math.max(earlyUntilMs, nowMs) + EARLY_READ_INTERVAL_MS;
    if (untilMs > nowMs + EARLY_READS * EARLY_READ_INTERVAL_MS) return false;
    earlyUntilMs = untilMs;
    return true;
  };
  return (isOutdated) => {
    const nowMs = performance.now();
    const isDue = nowMs - checkedMs >= intervalMs;
    if (!isDue && !(isOutdated?.(current) && mayReadEarly(nowMs))) return current;
    checkedMs = nowMs;
    const before = last;
    try {
      last = undefined;
      last = readFileSync(path, 'utf8').trim();
      if (last !== before) current = parse(last || refuseEmpty());
    } catch (err) {
      if (last !== before) refusedRenewals.publish({ path, err } satisfies RefusedRenewal);
    }
    return current;
  };
}

function refuseEmpty(): never {
  throw new EmptyFileError('must be a text, and the file is empty');
}

class EmptyFileError extends LoggableError {}

import { type DestinationStream, type LevelWithSilent, type LogFn, type Logger, pino } from 'pino';
import { errorFields } from './error-fields.ts';
import { logFields, logValue } from './log-fields.ts';
import { prettyLines } from './pretty-lines.ts';

export type Log = Logger;
export type LogLevel = LevelWithSilent;

/** So much is written even before its turn is over. */
const FULL_BYTES = 8_192;

/** Where a log goes and how much of it. */
export interface LogOptions {
  level?: LogLevel;
  /** Takes one line of text at a time; standard output when left out. */
  destination?: DestinationStream;
  /** Lines for people instead of JSON. */
  pretty?: boolean;
}

/**
 * A log of one JSON object a line, `service` first, time in ISO 8601.
 *
 * Fields pass an allow-list on every way in (fields, bindings of children, values in the message):
 * plain values, the safe part of errors and requests, and no object beyond them. What a message
 * itself says is up to its writer: it is for constant sentences.
 */
export function createLog(name: string, options: LogOptions = {}): Log {
  const { level = 'info', destination = standardOutput() } = options;
  const log = pino(
    {
      level,
      base: { service: name },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // Errors arrive here already reduced; pino's own serializer would add to them.
      serializers: { err: (reduced: unknown) => reduced },
      hooks: { logMethod: writeSafely },
    },
    options.pretty ? prettyLines(destination) : destination,
  );
  return withSafeBindings(log);
}

let output: DestinationStream | undefined;

/**
 * Standard output, written to once for all lines of a turn of the event loop, as each writing is a call
 * of the system. What the last turn of a process logged is written when it exits.
 */
function standardOutput(): DestinationStream {
  if (output !== undefined) return output;
  const buffered = pino.destination({ dest: 1, sync: true, minLength: FULL_BYTES });
  const flush = () => buffered.flushSync();
  process.once('exit', flush);
  let isWaiting = false;
  output = {
    write(line) {
      buffered.write(line);
      if (isWaiting) return;
      isWaiting = true;
      setImmediate(() => {
        isWaiting = false;
        flush();
      });
    },
  };
  return output;
}

function writeSafely(this: Logger, args: Parameters<LogFn>, write: LogFn): void {
  const [first, ...rest] = args as unknown[];
  const values = rest.map((value) => logValue('', value));
  if (first instanceof Error) {
    const err = errorFields(first);
    Reflect.apply(write, this, [
      { err },
      ...(values.length > 0 ? values : [err.message ?? err.name]),
    ]);
  } else if (typeof first === 'object' && first !== null) {
    Reflect.apply(write, this, [logFields(first), ...values]);
  } else {
    Reflect.apply(write, this, [first, ...values]);
  }
}

/** Bindings pass the allow-list as well; children inherit these methods, so theirs do too. */
function withSafeBindings(log: Log): Log {
  const { child, setBindings } = log;
  log.child = function safeChild(this: Log, bindings: object, ...options: unknown[]) {
    return Reflect.apply(child, this, [logFields(bindings), ...options]);
  } as typeof child;
  log.setBindings = function safeSetBindings(this: Log, bindings: object) {
    Reflect.apply(setBindings, this, [logFields(bindings)]);
  };
  return log;
}

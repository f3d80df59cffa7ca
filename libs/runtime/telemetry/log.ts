import { type DestinationStream, type LevelWithSilent, type LogFn, type Logger, pino } from 'pino';
import { errorFields } from './error-fields.ts';
import { logFields, logValue } from './log-fields.ts';
import { prettyLines } from './pretty-lines.ts';

export type Log = Logger;
export type LogLevel = LevelWithSilent;

/** A buffer of this size is written before the turn of the event loop ends. */
const BUFFER_BYTES = 8_192;

/** The destination, level and format of a log. */
export interface LogOptions {
  level?: LogLevel;
  /** Gets one line of text at a time; standard output when left out. */
  destination?: DestinationStream;
  /** Readable lines instead of JSON. */
  pretty?: boolean;
}

/**
 * A log with one JSON object per line and the time in ISO 8601.
 *
 * Fields, bindings of child logs and values in the message pass an allow-list: plain values, the safe
 * fields of errors and requests, and no other object. The message itself is not checked, so it must be
 * a constant sentence.
 */
export function createLog(name: string, options: LogOptions = {}): Log {
  const { level = 'info', destination = standardOutput() } = options;
  const log = pino(
    {
      level,
      base: { service: name },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // `err` has passed the allow-list; pino's own serializer would add fields.
      serializers: { err: (reduced: unknown) => reduced },
      hooks: { logMethod: writeSafely },
    },
    options.pretty ? prettyLines(destination) : destination,
  );
  return withSafeBindings(log);
}

let output: DestinationStream | undefined;

/**
 * Standard output. All lines of one turn of the event loop are written by one system call; the lines of
 * the last turn are written when the process exits.
 */
function standardOutput(): DestinationStream {
  if (output !== undefined) return output;
  const buffered = pino.destination({ dest: 1, sync: true, minLength: BUFFER_BYTES });
  const flush = () => buffered.flushSync();
  process.once('exit', flush);
  let isFlushScheduled = false;
  output = {
    write(line) {
      buffered.write(line);
      if (isFlushScheduled) return;
      isFlushScheduled = true;
      setImmediate(() => {
        isFlushScheduled = false;
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

/** Makes bindings pass the allow-list. Child logs inherit these methods. */
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

import { type DestinationStream, type LevelWithSilent, type LogFn, type Logger, pino } from 'pino';
import { errorFields } from './error-fields.ts';
import { logFields, logValue } from './log-fields.ts';
import { prettyLines } from './pretty-lines.ts';

export type Log = Logger;
export type LogLevel = LevelWithSilent;

/** So many characters are written before the turn of the event loop ends. */
const MAX_PENDING = 8_192;

/** The destination, level and format of a log. */
export interface LogOptions {
  level?: LogLevel;
  /** Gets one line of text at a time; standard output when left out. */
  destination?: DestinationStream | 'stderr';
  /** Readable lines instead of JSON. */
  pretty?: boolean;
}

/**
 * A log with one JSON object per line and the time in ISO 8601.
 *
 * Fields, bindings of child logs and values in the message pass an allow-list: plain values, the safe
 * fields of errors, and no other object. The message itself is not checked, so it must be a constant
 * sentence.
 */
export function createLog(name: string, options: LogOptions = {}): Log {
  const { level = 'info' } = options;
  const destination = destinationOf(options);
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

function destinationOf({ destination }: LogOptions): DestinationStream {
  if (destination === undefined) return standardStream(STDOUT);
  return destination === 'stderr' ? standardStream(STDERR) : destination;
}

const STDOUT = 1;
const STDERR = 2;
const streams = new Map<number, DestinationStream>();

/**
 * Standard output or error. All lines of one turn of the event loop are written by one system call; the lines of
 * the last turn are written when the process exits. When nobody reads the stream any more, pino drops what is written to it.
 */
function standardStream(fd: typeof STDOUT | typeof STDERR): DestinationStream {
  const known = streams.get(fd);
  if (known !== undefined) return known;
  // pino's own buffer has `flushSync`, which waits for ever when nobody reads the stream (sonic-boom 4.2.1).
  const unbuffered = pino.destination({ dest: fd, sync: true });
  let pending = '';
  let isFlushScheduled = false;
  const flush = () => {
    isFlushScheduled = false;
    const text = pending;
    pending = '';
    if (text !== '') unbuffered.write(text);
  };
  process.once('exit', flush);
  const stream: DestinationStream = {
    write(line) {
      pending += line;
      if (pending.length >= MAX_PENDING) flush();
      if (isFlushScheduled) return;
      isFlushScheduled = true;
      setImmediate(flush);
    },
  };
  streams.set(fd, stream);
  return stream;
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

import { type DestinationStream, type LevelWithSilent, type LogFn, type Logger, pino } from 'pino';
import { errorFields } from './error-fields.ts';
import { logFields, logValue } from './log-fields.ts';
import { prettyLines } from './pretty-lines.ts';

export type Log = Logger;
export type LogLevel = LevelWithSilent;

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
  const { level = 'info', destination = pino.destination({ dest: 1, sync: true }) } = options;
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

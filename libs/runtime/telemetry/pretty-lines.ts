import type { DestinationStream } from 'pino';

const TIME = { start: 'yyyy-MM-ddT'.length, end: 'yyyy-MM-ddTHH:mm:ss.SSS'.length };

/** Formats JSON log lines as readable text: time, level, service, message, then the fields. */
export function prettyLines(destination: DestinationStream): DestinationStream {
  return { write: (line) => destination.write(`${prettyLine(JSON.parse(line))}\n`) };
}

/** One log entry as readable text. */
export function prettyLine(entry: Record<string, unknown>): string {
  const { time, level, service, msg, err, ...fields } = entry;
  const head = [
    String(time).slice(TIME.start, TIME.end),
    String(level).toUpperCase().padEnd(5),
    `${String(service)}:`,
    msg === undefined ? '' : String(msg),
  ].join(' ');
  const tail = Object.entries(fields).map(([name, value]) => `${name}=${inline(value)}`);
  return [[head, ...tail].join(' '), ...errorLines(err)].join('\n');
}

function inline(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}

function errorLines(err: unknown, indent = '  '): string[] {
  if (typeof err !== 'object' || err === null) return [];
  const { name, message, stack, cause, errors, ...fields } = err as Record<string, unknown>;
  const details = Object.entries(fields).map(([field, value]) => `${field}=${inline(value)}`);
  const head = [`${indent}${String(name)}${message === undefined ? '' : `: ${String(message)}`}`];
  const frames = typeof stack === 'string' ? stack.split('\n') : [];
  return [
    [...head, ...details].join(' '),
    ...frames.map((frame) => `${indent}  ${frame.trim()}`),
    ...(Array.isArray(errors) ? errors.flatMap((error) => errorLines(error, `${indent}  `)) : []),
    ...errorLines(cause, `${indent}  `),
  ];
}

/** The W3C trace context as text: which trace a piece of work belongs to, and which span caused it. */
import { randomUUID } from 'node:crypto';

/** Version, trace id, span id, flags. A later version may say more behind a dash. */
const FORM = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?=$|-)/;

export interface TraceContext {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** 16 hexadecimal digits. */
  spanId: string;
  /** The last bit says whether the trace is recorded. */
  flags: number;
}

/** What a `traceparent` says; undefined when it is none, which by the standard starts a new trace. */
export function parseTraceparent(text: string | null | undefined): TraceContext | undefined {
  const [, traceId, spanId, flags] = FORM.exec(text ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) };
}

/** The same as text, in version 00. */
export function formatTraceparent({ traceId, spanId, flags }: TraceContext): string {
  return `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`;
}

/** Begins a trace that nobody records: its id still ties the lines of the logs together. */
export function newTraceparent(): string {
  const traceId = randomUUID().replaceAll('-', '');
  const spanId = randomUUID().replaceAll('-', '').slice(16);
  return formatTraceparent({ traceId, spanId, flags: 0 });
}

/** The trace's id, for a line of the log. */
export function traceIdOf(traceparent: string | null | undefined): string | undefined {
  return parseTraceparent(traceparent)?.traceId;
}

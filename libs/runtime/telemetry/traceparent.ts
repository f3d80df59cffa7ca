/** The W3C trace context as text: the trace of a unit of work, and the span that caused the work. */
import { randomUUID } from 'node:crypto';

/**
 * Version, trace id, span id, flags (https://www.w3.org/TR/trace-context/#traceparent-header). Version ff
 * is invalid, and so are ids of zeros only. A later version may continue after a dash.
 */
const FORM =
  /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:-|$)/;
const VERSION_00_LENGTH = 55;
/** "Sampled" and, from level 2 of the standard, "random trace id"; all other flags must be sent as 0. */
const KNOWN_FLAGS = 0b11;

export interface TraceContext {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** 16 hexadecimal digits. */
  spanId: string;
  /** The last bit says whether the trace is recorded. */
  flags: number;
}

/** The trace context in `text`; undefined when malformed, which by the standard starts a new trace. */
export function parseTraceparent(text: string | null | undefined): TraceContext | undefined {
  const [, version, traceId, spanId, flags] = FORM.exec(text ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (version === '00' && text?.length !== VERSION_00_LENGTH) return undefined;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) & KNOWN_FLAGS };
}

/** The context as text, in version 00. */
export function formatTraceparent({ traceId, spanId, flags }: TraceContext): string {
  return `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`;
}

/**
 * A caller's `traceparent` in version 00, to be passed on and stored. The fields that a later version
 * appends are left out, because their length and characters are not limited. Undefined when malformed.
 */
export function acceptedTraceparent(
  header: string | string[] | null | undefined,
): string | undefined {
  const context = typeof header === 'string' ? parseTraceparent(header) : undefined;
  return context && formatTraceparent(context);
}

/** A new trace that is not recorded: its id only connects log entries. */
export function newTraceparent(): string {
  const traceId = randomUUID().replaceAll('-', '');
  const spanId = randomUUID().replaceAll('-', '').slice(16);
  return formatTraceparent({ traceId, spanId, flags: 0 });
}

/** The trace id, for log entries. The traceparent has been accepted before, so it is not parsed again. */
export function traceIdOf(traceparent: string | null | undefined): string | undefined {
  return traceparent?.slice(3, 35);
}

/** A webhook on its way to one destination, and what becomes of it. */
import type { Outcome } from '../sending/schedule.ts';

/** A due delivery that this process has leased. */
export interface Delivery {
  /** The `webhook-id`, the same on every attempt. */
  readonly id: string;
  /** Grows whenever the delivery changes hands; a result under an old one is not believed. */
  readonly fence: number;
  /** How many attempts were made before. */
  readonly attempts: number;
  readonly applicationId: string;
  readonly destinationId: string;
  readonly event: string;
  readonly body: string;
  /** The `webhook-sequence`: 1, 2, 3 … per application, creditor and destination. */
  readonly sequence: number;
  /** When what the event tells was recorded. */
  readonly recordedAt: Date;
  /** Of what caused it, for its attempts; none where there was no trace. */
  readonly traceparent?: string | null | undefined;
}

/** One attempt and the delivery's state after it. */
export interface AttemptResult {
  readonly delivery: Delivery;
  /** Of the destination that was tried; `undefined` when it was not there any more. */
  readonly revision: number | undefined;
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly outcome: Outcome;
  readonly state: 'delivered' | 'due' | 'dead';
  /** Why it is dead; a stable word. */
  readonly reason?: string;
  /** The pause before the next attempt of one that is due. */
  readonly delayMs?: number;
  /** The receiver is gone: the destination gets nothing more. */
  readonly disables?: boolean;
}

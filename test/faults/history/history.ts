/**
 * Everything that a fault run sent to the platform and observed of it: the only input of the history
 * checker. All times are those of performance.now() in the test's process.
 */
export interface History {
  writes: Write[];
  /** The last read of each submission was made after everything else that happened to it. */
  reads: Read[];
  /** The reads that callers made during the load and that were not answered with the decisions. */
  failedReads: FailedRead[];
  /** The rows of the database, of each submission in the order of their sequence. */
  decisions: StoredDecision[];
  /** The events of the outbox, in the order in which they are published. */
  events: StoredDecision[];
  /** In the order in which they arrived. */
  webhooks: WebhookRequest[];
  deliveries: DeliveryRecord[];
  crashes: Crash[];
  overdueAttempts: OverdueAttempt[];
}

/** One decision that a caller wanted recorded once, with however many requests that took. */
export interface Write {
  submission: string;
  marker: string;
  decision: string;
  /** The path of the webhook that this decision must send; null when it sends none. */
  webhookPath: string | null;
  /** When the first request was sent. */
  startedMs: number;
  /** When the last request ended. A write of unknown outcome may take effect later. */
  endedMs: number;
  /** `fail`: refused, so the write must have no effect. `unknown`: either is allowed. */
  outcome: 'ok' | 'fail' | 'unknown';
  /** Why the last request failed: the answer's status and body, or the error. For the report of a violation. */
  refusal?: string;
  requests: number;
}

/** A decision as the platform shows it. */
export interface ShownDecision {
  sequence: number;
  marker: string;
  decision: string;
}

/** A decision in the database or in the outbox. */
export interface StoredDecision extends ShownDecision {
  submission: string;
}

/** All decisions of a submission as the API returned them, oldest first. */
export interface Read {
  submission: string;
  startedMs: number;
  decisions: ShownDecision[];
}

/** A read of which a request failed; it is not repeated. */
export interface FailedRead {
  submission: string;
  startedMs: number;
  /** The answer's status and body, or why there was none. */
  reason: string;
}

/** A webhook request as the receiver got it. */
export interface WebhookRequest {
  atMs: number;
  submission: string;
  webhookId: string;
  /** The header webhook-sequence. */
  sequence: number;
  marker: string;
  path: string;
  bodyHash: string;
  /** Whether both signatures verify. */
  signed: boolean;
  /** The status sent back; undefined when the sender was gone before it could be sent. */
  answer?: number | undefined;
}

export function isAccepted({ answer = 0 }: WebhookRequest): boolean {
  return answer >= 200 && answer < 300;
}

/** A delivery that the database had recorded as delivered at this time. */
export interface DeliveryRecord {
  webhookId: string;
  atMs: number;
}

/** An attempt that the dispatcher has recorded as failed by its deadline. The receiver may have accepted the request. */
export interface OverdueAttempt {
  webhookId: string;
  fromMs: number;
  untilMs: number;
}

/** A time in which senders were killed or stopped: the results of their requests may be lost. */
export interface Crash {
  fromMs: number;
  untilMs: number;
  /** How many requests at most were under way, or had ended without a recorded result. */
  maxInFlight: number;
}

/** Splits a history by submission. Deliveries, overdue attempts and crashes are in every part, unfiltered. */
export function splitBySubmission(history: History): History[] {
  const parts = {
    writes: Map.groupBy(history.writes, submissionOf),
    reads: Map.groupBy(history.reads, submissionOf),
    failedReads: Map.groupBy(history.failedReads, submissionOf),
    decisions: Map.groupBy(history.decisions, submissionOf),
    events: Map.groupBy(history.events, submissionOf),
    webhooks: Map.groupBy(history.webhooks, submissionOf),
  };
  const submissions = new Set(Object.values(parts).flatMap((part) => [...part.keys()]));
  return [...submissions].map((submission) => ({
    writes: parts.writes.get(submission) ?? [],
    reads: parts.reads.get(submission) ?? [],
    failedReads: parts.failedReads.get(submission) ?? [],
    decisions: parts.decisions.get(submission) ?? [],
    events: parts.events.get(submission) ?? [],
    webhooks: parts.webhooks.get(submission) ?? [],
    deliveries: history.deliveries,
    crashes: history.crashes,
    overdueAttempts: history.overdueAttempts,
  }));
}

function submissionOf({ submission }: { submission: string }): string {
  return submission;
}

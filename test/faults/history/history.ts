/** What a run did to Creditlane and what it saw of it: all that is judged. Times are performance.now()'s. */

/** A decision that was to be recorded once, however often it had to be asked for. */
export interface Write {
  submission: string;
  /** Tells this decision from every other, wherever it shows. */
  mark: string;
  decision: string;
  /** The path of the webhook that tells of such a decision; null where nobody is told. */
  webhook: string | null;
  /** Of the first request. */
  startedMs: number;
  /** Of the answer that counts; for an unknown outcome, when nobody asked any more. */
  endedMs: number;
  /** `fail`: refused, so that it must have no effect. `unknown`: it may have one, or none. */
  outcome: 'ok' | 'fail' | 'unknown';
  /** What the answer that counts said, for whoever reads of an offence. */
  answer?: string;
  requests: number;
}

/** A decision as Creditlane tells of it. */
export interface Version {
  sequence: number;
  mark: string;
  decision: string;
}

/** A version in the database or in the outbox. */
export interface Kept extends Version {
  submission: string;
}

/** The history of a submission as the API gave it, oldest first. */
export interface Read {
  submission: string;
  startedMs: number;
  versions: Version[];
}

/** A webhook request as its receiver got it. */
export interface Arrival {
  atMs: number;
  submission: string;
  webhookId: string;
  /** The webhook-sequence. */
  sequence: number;
  mark: string;
  path: string;
  bodyHash: string;
  signed: boolean;
  /** The status that was answered; undefined where nobody was there to hear it. */
  answer?: number | undefined;
}

/** Whether the receiver said that it has the webhook. */
export function isAccepted({ answer = 0 }: Arrival): boolean {
  return answer >= 200 && answer < 300;
}

/** A delivery that the database held for done at this time. */
export interface Recorded {
  webhookId: string;
  atMs: number;
}

/** Requests under way in this time may have been made in vain, and their results lost. */
export interface Crash {
  fromMs: number;
  untilMs: number;
  /** How many requests may be under way at once. */
  inFlight: number;
}

export interface History {
  writes: Write[];
  /** Of each submission, the last read follows all that happened to it. */
  reads: Read[];
  /** Of each submission, oldest first. */
  decisions: Kept[];
  /** In the order in which they are published. */
  events: Kept[];
  /** In the order in which they came. */
  arrivals: Arrival[];
  recorded: Recorded[];
  crashes: Crash[];
}

/** The share of each submission in a history. */
export function chaptersOf(history: History): History[] {
  const parts = {
    writes: Map.groupBy(history.writes, bySubmission),
    reads: Map.groupBy(history.reads, bySubmission),
    decisions: Map.groupBy(history.decisions, bySubmission),
    events: Map.groupBy(history.events, bySubmission),
    arrivals: Map.groupBy(history.arrivals, bySubmission),
  };
  const submissions = new Set(Object.values(parts).flatMap((part) => [...part.keys()]));
  return [...submissions].map((submission) => ({
    writes: parts.writes.get(submission) ?? [],
    reads: parts.reads.get(submission) ?? [],
    decisions: parts.decisions.get(submission) ?? [],
    events: parts.events.get(submission) ?? [],
    arrivals: parts.arrivals.get(submission) ?? [],
    recorded: history.recorded,
    crashes: history.crashes,
  }));
}

function bySubmission({ submission }: { submission: string }): string {
  return submission;
}

/** Decides which deliveries a batch of events makes, in which order, and with which numbers. */
import type { Recipient } from '../destinations/destinations.ts';
import type { Rendering } from '../events/decision-body.ts';

/** An event with what it says and who is to be told. */
export interface Incoming {
  readonly eventId: string;
  readonly applicationId: string;
  readonly creditorId: string;
  /** Of the decision within its submission: 1, 2, 3 … */
  readonly sequence: number;
  readonly recordedAt: Date;
  /** Of the event's handling, which causes the webhooks. */
  readonly traceparent?: string | undefined;
  readonly rendering: Rendering;
  readonly recipients: readonly Recipient[];
}

/** What the database knows of the batch's submissions, lanes and destinations. */
export interface Known {
  /** By submission: the last decision that was taken in. */
  readonly seen: ReadonlyMap<string, number>;
  /** By submission and destination: the last webhook-sequence given out. */
  readonly numbered: ReadonlyMap<string, number>;
  /** Lanes in which a delivery holds back those behind it. */
  readonly busy: ReadonlySet<string>;
  /** By destination: the revision that is sent nothing more. A later one is. */
  readonly disabled: ReadonlyMap<string, number>;
}

export interface PlannedDelivery {
  readonly id: string;
  readonly incoming: Incoming;
  readonly destinationId: string;
  /** Only what will be sent is numbered: what never goes out must not look like a gap. */
  readonly sequence: number | null;
  readonly state: 'due' | 'waiting' | 'dead';
  readonly reason: string | null;
}

export interface Plan {
  readonly seen: ReadonlyMap<string, number>;
  readonly numbered: ReadonlyMap<string, number>;
  /** Destinations that were disabled and set anew since: their revisions. */
  readonly enabled: ReadonlyMap<string, number>;
  /** The events that make deliveries: their bodies are kept. */
  readonly messages: readonly Incoming[];
  /** In the order in which they are to stand in their lanes. */
  readonly deliveries: readonly PlannedDelivery[];
}

export const submissionKey = (applicationId: string, creditorId: string) =>
  `${applicationId} ${creditorId}`;
export const laneKey = (applicationId: string, destinationId: string) =>
  `${applicationId} ${destinationId}`;
export const numberKey = (applicationId: string, creditorId: string, destinationId: string) =>
  `${applicationId} ${creditorId} ${destinationId}`;

/** Plans the deliveries of a batch, given in order. A decision that was seen before makes none. */
export function planDeliveries(
  batch: readonly Incoming[],
  known: Known,
  newId: () => string,
): Plan {
  const seen = new Map<string, number>();
  const numbered = new Map<string, number>();
  const enabled = new Map<string, number>();
  const busy = new Set(known.busy);
  const messages: Incoming[] = [];
  const deliveries: PlannedDelivery[] = [];

  for (const incoming of batch) {
    const { applicationId, creditorId, sequence, rendering, recipients } = incoming;
    const submission = submissionKey(applicationId, creditorId);
    if (sequence <= (seen.get(submission) ?? known.seen.get(submission) ?? 0)) continue;
    seen.set(submission, sequence);
    if (rendering.kind === 'silent' || recipients.length === 0) continue;
    messages.push(incoming);

    for (const { destinationId, revision } of recipients) {
      const id = newId();
      const disabled = known.disabled.get(destinationId) ?? 0;
      if (disabled > 0 && disabled < revision) enabled.set(destinationId, revision);
      const refusal = refusalOf(rendering, disabled >= revision);
      if (refusal !== undefined) {
        const dead = { sequence: null, state: 'dead' as const, reason: refusal };
        deliveries.push({ id, incoming, destinationId, ...dead });
        continue;
      }
      const counter = numberKey(applicationId, creditorId, destinationId);
      const number = (numbered.get(counter) ?? known.numbered.get(counter) ?? 0) + 1;
      numbered.set(counter, number);
      const lane = laneKey(applicationId, destinationId);
      const state = busy.has(lane) ? 'waiting' : 'due';
      busy.add(lane);
      deliveries.push({ id, incoming, destinationId, sequence: number, state, reason: null });
    }
  }
  return { seen, numbered, enabled, messages, deliveries };
}

function refusalOf(rendering: Rendering, disabled: boolean): string | undefined {
  if (rendering.kind === 'unfit') return rendering.reason;
  return disabled ? 'destination_disabled' : undefined;
}

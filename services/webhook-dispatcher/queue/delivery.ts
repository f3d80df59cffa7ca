import { joinIds } from './joined-ids.ts';

/** A due delivery that this process has leased: one event to one destination. */
export interface LeasedDelivery {
  /** The `webhook-id`, the same on every attempt. */
  readonly id: string;
  /** Grows with every lease and result; a result under an earlier fence counts only if it is a success. */
  readonly fence: number;
  /** How many attempts were made before; of a replayed delivery, since its latest replay. */
  readonly attempts: number;
  /** How often the delivery was replayed. */
  readonly replays: number;
  readonly orderingKey: string;
  readonly destinationId: string;
  /** The name of the event type. */
  readonly event: string;
  /** `null` when the body is rendered from `reference` for every attempt. */
  readonly body: string | null;
  readonly reference: string | null;
  /** The `webhook-sequence`: 1, 2, 3 … per ordering key, numbering key and destination. */
  readonly sequence: number;
  /** When the change that the event reports was recorded. */
  readonly recordedAt: Date;
  /** How long before its lease the delivery was made by the intake, which found that its integration has a grant. */
  readonly ageMs: number;
  /** The trace in which the event was handled, and to which the attempts belong; absent without a trace. */
  readonly traceparent?: string | null | undefined;
}

/** For how long the answer that an integration has a grant allows requests to begin. */
export const GRANT_MS = 5_000;

/**
 * Until when the grant that the intake found allows a delivery that was leased at `leasedAtMs`, both by performance.now(). A replay is a
 * new request, for which the grant is always asked for.
 */
export const intakeGrantEndMs = ({ ageMs, replays }: LeasedDelivery, leasedAtMs: number): number =>
  replays > 0 ? 0 : leasedAtMs - ageMs + GRANT_MS;

/** A delivery for which no attempt could be made. */
export interface UntriedDelivery {
  readonly kind: 'untried';
  readonly delivery: LeasedDelivery;
  /**
   * Whether only this delivery cannot be tried, because the service with its content does not answer, or only a later version
   * knows its event type: those behind it in its lane may have their contents.
   */
  readonly lacksContent: boolean;
}

/** The deliveries of one ordering key to one destination, which are sent in order. */
export type Lane = Pick<LeasedDelivery, 'orderingKey' | 'destinationId'>;

/** Identifies a lane, by ids that are joined (`joined-ids.ts`). */
export const laneKey = ({ orderingKey, destinationId }: Lane): string =>
  joinIds(orderingKey, destinationId);

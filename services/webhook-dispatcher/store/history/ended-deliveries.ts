/** The INSERT by which a delivery leaves the queue for the history. */

/** SQL expressions over the rows that were deleted. */
interface EndedValues {
  readonly state: string;
  readonly reason: string;
  readonly settledAt: string;
  /** As in the queue when left out. */
  readonly fence?: string;
  /** As in the queue when left out. */
  readonly attempts?: string;
  /** As in the queue when left out. */
  readonly nextAttemptAt?: string;
}

/**
 * Returns the INSERT that stores the rows of the common table expression `ended`, which were deleted from the queue. Built
 * from strings, because three statements end deliveries, and a column that one of them forgets is lost.
 */
export const insertEndedSql = ({
  state,
  reason,
  settledAt,
  fence = 'fence',
  attempts = 'attempts',
  nextAttemptAt = 'next_attempt_at',
}: EndedValues) => `INSERT INTO deliveries_ended (id, position, event_id, destination_id, application_id, sequence,
       state, reason, settled_at, leased, fence, attempts, next_attempt_at,
       holding, hold_until, created_at, replays, earlier_attempts, replayed_at, storage)
     SELECT id, position, event_id, destination_id, application_id, sequence,
       ${state}, ${reason}, ${settledAt}, false, ${fence}, ${attempts}, ${nextAttemptAt},
       holding, hold_until, created_at, replays, earlier_attempts, replayed_at, 'ended'
     FROM ended`;

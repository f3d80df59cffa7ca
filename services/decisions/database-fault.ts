/** What a failure of the database means to a caller of this service. */
import { isOutage } from '@creditlane/postgres/outage';
import type { Call } from '@creditlane/rpc/call';
import { conflict, unavailable } from '@creditlane/rpc/fault';

/** SQLSTATE lock_not_available: another write held the submission's row for longer than we wait. */
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * The error to answer with. A wait in vain for a row means, to a call with an idempotency key, that
 * its twin may be the one still at work; nothing of this call was written.
 */
export function databaseFault(error: unknown, { idempotency }: Call): unknown {
  if (isOutage(error)) return unavailable('the database is away', 1, error);
  if (!(error instanceof Error && 'code' in error && error.code === LOCK_NOT_AVAILABLE)) {
    return error;
  }
  if (idempotency === undefined) return unavailable('the submission is busy', 1, error);
  return conflict(
    'idempotency_in_progress',
    'An earlier request with this Idempotency-Key may still be under way.',
  );
}

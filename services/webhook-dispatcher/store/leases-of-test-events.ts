/** The SQL of the leases of test events, of which each destination has one at most. */
import { definePurge, deleteOlderThanSql } from '@creditlane/postgres/retention';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';

export interface TestEventLease {
  readonly destinationId: string;
  readonly leaseId: string;
}

const insertLease = defineStatement<{ leased: boolean }>(
  'test_event_lease',
  `INSERT INTO test_event_leases AS l (destination_id, lease_id, leased_until)
   VALUES ($1, $2, now() + $3 * interval '1 ms')
   ON CONFLICT (destination_id) DO UPDATE
     SET lease_id = excluded.lease_id, leased_until = excluded.leased_until
     WHERE l.leased_until NOT BETWEEN now() AND now() + 2 * $3 * interval '1 ms'
   RETURNING true AS leased`,
);

/**
 * Takes the destination's lease for `leaseMs`. False while another one is in force; one that ends more than twice that time from
 * now was taken before the database's clock was set back.
 */
export async function leaseTestEvent(
  db: Queryable,
  { destinationId, leaseId }: TestEventLease,
  leaseMs: number,
): Promise<boolean> {
  const [row] = await insertLease.run(db, [destinationId, leaseId, leaseMs]);
  return row?.leased ?? false;
}

const selectOther = defineStatement<{ found: boolean }>(
  'test_event_lease_of_other',
  `SELECT EXISTS (SELECT FROM test_event_leases WHERE destination_id = $1 AND lease_id <> $2) AS found`,
);

/** Whether the destination has a lease with another id. */
export async function hasOtherTestEventLease(
  db: Queryable,
  { destinationId, leaseId }: TestEventLease,
): Promise<boolean> {
  const [row] = await selectOther.run(db, [destinationId, leaseId]);
  return row?.found === true;
}

const deleteLease = defineStatement(
  'test_event_release',
  'DELETE FROM test_event_leases WHERE destination_id = $1 AND lease_id = $2',
);

/** Ends the lease. One that has been taken since under another id stays. */
export async function releaseTestEvent(
  db: Queryable,
  { destinationId, leaseId }: TestEventLease,
): Promise<void> {
  await deleteLease.run(db, [destinationId, leaseId]);
}

/** Deletes the leases of processes that have died. */
export const purgeTestEventLeases = definePurge(
  'test_event_leases_purge',
  deleteOlderThanSql('test_event_leases', 'leased_until', '1 day'),
);

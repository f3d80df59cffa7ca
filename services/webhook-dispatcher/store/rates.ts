/**
 * The SQL of the rate limits of destinations: a row for each limited destination, which all replicas share. Each attempt needs a
 * permit. `full_at` is when the destination will have regained all of its permits: each permit that is taken moves it on by the
 * time in which the rate regains one (GCRA), by the clock of the database. A permit is used within PERMIT_MS or lost: permits that
 * were kept would make a burst together with later ones.
 */
import { definePurge, deleteOlderThanSql } from '@creditlane/postgres/retention';
import { defineStatement, mapQueryResult, type Query } from '@creditlane/postgres/statement';
import type { LeasedDelivery } from '../queue/delivery.ts';
import { LEASED_COLUMNS, messageOfSql } from './pending/pending-deliveries.ts';

/** How long after it was taken an attempt may begin. */
export const PERMIT_MS = 300;

/** The rate limit of a destination, by its revision. */
export interface DestinationRate {
  readonly destinationId: string;
  readonly revision: number;
  readonly perSecond: number;
}

// The terms that the statements below share. EVERY is the time in which the rate regains a permit, and BURST that whose permits may be
// taken at once. In any time, attempts begin by the permits that are taken in it, and by those of the PERMIT_MS before. So the
// permits of BURST, half a second, and of PERMIT_MS are together fewer than those of one second, which is what may come beside the rate.
// Where half a second has no whole permit, BURST has one. With one in a second, that one could come PERMIT_MS late and the next in
// time, so it is regained PERMIT_MS later: two attempts are a second apart.
const EVERY = `(1.0 / r.per_second + CASE WHEN r.per_second = 1 THEN ${PERMIT_MS} / 1000.0 ELSE 0 END) * interval '1 s'`;
const BURST = `greatest(${EVERY}, interval '0.5 s')`;
// A time that has passed counts as now: all permits are there. So does one that is far in the future, which only a clock that was set back leaves.
const FULL_AT = `CASE WHEN r.full_at < now() + interval '10 s' THEN greatest(r.full_at, now()) ELSE now() END`;

const selectRates = defineStatement<DestinationRate>(
  'rates_list',
  `SELECT destination_id AS "destinationId", revision, per_second AS "perSecond" FROM destination_rates`,
);

export function listRatesQuery(): Query<DestinationRate[]> {
  return selectRates.query([]);
}

const upsertRates = defineStatement(
  'rates_save',
  `INSERT INTO destination_rates AS r (destination_id, revision, per_second, full_at)
   SELECT id, revision, per_second, now()
   FROM unnest($1::uuid[], $2::int[], $3::int[]) AS n (id, revision, per_second) ORDER BY id
   ON CONFLICT (destination_id) DO UPDATE SET revision = excluded.revision, per_second = excluded.per_second
   WHERE r.revision < excluded.revision`,
);

/** Stores rate limits, each unless a later revision of the destination has one. */
export function saveRatesQuery(rates: readonly DestinationRate[]): Query<unknown> {
  return upsertRates.query([
    rates.map(({ destinationId }) => destinationId),
    rates.map(({ revision }) => revision),
    rates.map(({ perSecond }) => perSecond),
  ]);
}

const deleteRates = defineStatement(
  'rates_remove',
  `DELETE FROM destination_rates WHERE destination_id IN (
     SELECT r.destination_id FROM destination_rates AS r
     JOIN unnest($1::uuid[], $2::int[]) AS n (destination_id, revision) USING (destination_id)
     WHERE r.revision < n.revision ORDER BY r.destination_id FOR UPDATE OF r
   )`,
);

/** Removes the rate limits of destinations that have none at these revisions, by id. */
export function removeRatesQuery(revisions: ReadonlyMap<string, number>): Query<unknown> {
  return deleteRates.query([[...revisions.keys()], [...revisions.values()]]);
}

const takePermit = defineStatement<{ waitMs: number }>(
  'rates_take',
  `UPDATE destination_rates AS r SET full_at = ${FULL_AT} + ${EVERY}
   WHERE r.destination_id = $1 AND ${FULL_AT} + ${EVERY} - ${BURST} <= now() + $2 * interval '1 ms'
   RETURNING greatest(0, extract(epoch FROM r.full_at - ${BURST} - now()) * 1000)::float8 AS "waitMs"`,
);

/**
 * Takes the next permit of a destination, and resolves to the milliseconds until it may be used; undefined when these would be more
 * than `maxWaitMs`, or when the destination has no limit. Nobody else gets a permit that is waited for.
 */
export function takePermitQuery(
  destinationId: string,
  maxWaitMs: number,
): Query<number | undefined> {
  return mapQueryResult(takePermit.query([destinationId, maxWaitMs]), ([row]) => row?.waitMs);
}

/** What a claim has found of a limited destination. */
export interface ClaimedRate {
  readonly destinationId: string;
  /** The deliveries claimed, one with each permit. */
  readonly claimed: number;
  /** In how many milliseconds the next permit is regained; 0 when there is one that was not taken, and 1 when another replica has locked the row. */
  readonly nextInMs: number;
}

/** A delivery, with a `nextInMs` of null; or the `destinationId` and `nextInMs` of a `ClaimedRate`, with null in all other columns. */
type ClaimedRow = LeasedDelivery & { readonly nextInMs: number | null };

// `waiting` are the destinations that have a due delivery and may be sent to; of these, `rate` has those with a permit. Only their rows are
// locked; one that another replica has locked is claimed for again soon. `picked` are due deliveries, as many as a destination has
// permits, or one row without a delivery; `taken` are the permits for them.
//
// The subqueries are scalar, and ANY (ARRAY[…]) looks each delivery up: see pending-deliveries.ts and claims.ts, whose claim leaves these
// destinations out. Joins of the parts would compare each delivery with each destination: 1,017,000 rows for 500 of both. So
// `picked` keeps what is read of the rate, and the result is one list of deliveries and destinations.
const claimLimited = defineStatement<ClaimedRow>(
  'rates_claim',
  `WITH waiting AS MATERIALIZED (
     SELECT r.destination_id, ${FULL_AT} + ${EVERY} - ${BURST} AS next_at
     FROM unnest($1::uuid[]) AS asked (destination_id)
     JOIN destination_rates AS r ON r.destination_id = ANY (ARRAY[asked.destination_id])
     WHERE (SELECT d.id FROM deliveries AS d
         WHERE d.storage <> 'ended' AND d.state = 'due' AND NOT d.leased
         AND d.destination_id = r.destination_id AND d.next_attempt_at <= now() LIMIT 1) IS NOT NULL
       AND (SELECT s.disabled_at FROM destination_states AS s
         WHERE s.destination_id = r.destination_id) IS NULL
       AND (SELECT b.destination_id FROM open_breakers AS b
         WHERE b.destination_id = r.destination_id) IS NULL
   ), rate AS MATERIALIZED (
     SELECT r.destination_id, ${EVERY} AS every, ${BURST} AS burst, ${FULL_AT} AS full_at
     FROM waiting JOIN destination_rates AS r ON r.destination_id = ANY (ARRAY[waiting.destination_id])
     WHERE ${FULL_AT} + ${EVERY} - ${BURST} <= now()
     ORDER BY r.full_at FOR UPDATE OF r SKIP LOCKED
   ), picked AS MATERIALIZED (
     SELECT rate.*, due.id, due.event_id
     FROM rate LEFT JOIN LATERAL (
       SELECT d.id, d.event_id FROM deliveries AS d
       WHERE d.storage <> 'ended' AND d.state = 'due' AND NOT d.leased
         AND d.destination_id = rate.destination_id AND d.next_attempt_at <= now()
       ORDER BY d.next_attempt_at
       LIMIT least(coalesce(($2::jsonb ->> rate.destination_id::text)::int, $3),
         floor(extract(epoch FROM now() + rate.burst - rate.full_at) / extract(epoch FROM rate.every) + 1e-6)::int)
       FOR UPDATE SKIP LOCKED
     ) AS due ON true
     LIMIT $4
   ), taken AS MATERIALIZED (
     SELECT destination_id, count(id) AS permits, full_at + count(id) * every AS full_at,
       full_at + (count(id) + 1) * every - burst AS next_at
     FROM picked GROUP BY destination_id, every, burst, full_at
   ), charged AS (
     UPDATE destination_rates AS r SET full_at = taken.full_at
     FROM taken WHERE r.destination_id = ANY (ARRAY[taken.destination_id]) AND taken.permits > 0
   ), next AS (
     SELECT destination_id, greatest(now(), next_at) AS at FROM taken
     UNION ALL
     SELECT destination_id, greatest(now() + interval '1 ms', next_at) FROM waiting
     WHERE destination_id NOT IN (SELECT destination_id FROM taken)
   ), claimed AS (
     UPDATE deliveries AS d
     SET leased = true, fence = d.fence + 1, next_attempt_at = now() + $5 * interval '1 ms'
     FROM picked ${messageOfSql('picked')}
     WHERE d.storage <> 'ended' AND d.id = ANY (ARRAY[picked.id])
     RETURNING ${LEASED_COLUMNS}
   )
   SELECT NULL::float8 AS "nextInMs", claimed.* FROM claimed
   UNION ALL
   SELECT (extract(epoch FROM at - now()) * 1000)::float8, NULL, NULL, NULL, NULL, NULL, destination_id,
     NULL, NULL, NULL, NULL, NULL, NULL, NULL
   FROM next`,
);

export interface LimitedClaimRequest {
  readonly destinationIds: readonly string[];
  /** How many deliveries each destination may have. */
  readonly capacities: ReadonlyMap<string, number>;
  /** How many each destination that `capacities` does not name may have. */
  readonly otherCapacity: number;
  readonly limit: number;
  readonly leaseMs: number;
}

/**
 * Leases due deliveries to these limited destinations, as many as each has permits for, and takes these. Also tells when those with due
 * deliveries have their next permits.
 */
export function claimLimitedQuery(
  request: LimitedClaimRequest,
): Query<{ deliveries: LeasedDelivery[]; rates: ClaimedRate[] }> {
  const { destinationIds, capacities, otherCapacity, limit, leaseMs } = request;
  const byDestination = JSON.stringify(Object.fromEntries(capacities));
  const query = claimLimited.query([destinationIds, byDestination, otherCapacity, limit, leaseMs]);
  return mapQueryResult(query, (rows) => {
    const deliveries = rows.flatMap(({ nextInMs, ...row }) => (nextInMs === null ? [row] : []));
    const byDestination = Map.groupBy(deliveries, ({ destinationId }) => destinationId);
    const rates = rows.flatMap(({ destinationId, nextInMs }) =>
      nextInMs === null
        ? []
        : [{ destinationId, nextInMs, claimed: byDestination.get(destinationId)?.length ?? 0 }],
    );
    return { deliveries, rates };
  });
}

/** A destination that nothing was due to for a day is sent to as a new one: the next attempt stores its limit again. */
export const purgeRates = definePurge(
  'rates_purge',
  deleteOlderThanSql('destination_rates', 'full_at', '1 day'),
);

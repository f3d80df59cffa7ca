/** Reads and writes webhook destinations, and finds the destinations that receive an event. */
import type { SealedValue } from '@creditlane/crypto/sealed-column';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';

/** A destination that receives an event, at its current revision. */
interface RecipientRow {
  destinationId: string;
  revision: number;
}

interface RecipientQuery {
  retailerId: string;
  creditorId: string;
  /** The one integration that may receive the event; empty for every integration. */
  integrationId: string;
  /** The name of the webhook; empty where event filters do not apply. */
  event: string;
}

// A filter whose revision is not that of its destination is no longer in force: an earlier version, which knows no
// filters, has set the destination since.
const selectRecipients = defineStatement<RecipientRow & { place: number }>(
  'recipients_find',
  `SELECT pair.place, destinations.id AS "destinationId", destinations.revision
   FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[]) WITH ORDINALITY
     AS pair (retailer_id, creditor_id, only_integration_id, event, place)
   CROSS JOIN LATERAL (
     SELECT integration_id FROM retailer_grants AS g
     WHERE g.retailer_id = pair.retailer_id AND g.revoked_at IS NULL
     UNION
     SELECT integration_id FROM creditor_grants AS g
     WHERE g.creditor_id = pair.creditor_id AND g.revoked_at IS NULL AND g.disabled_at IS NULL
   ) AS granted
   JOIN destinations USING (integration_id)
   WHERE (pair.only_integration_id IS NULL OR pair.only_integration_id = integration_id)
     AND (pair.event = '' OR events IS NULL OR events_revision <> revision OR pair.event = ANY (events))
   ORDER BY pair.place, destinations.id`,
);

/**
 * For each pair, in order, the destinations of the integrations with a live grant on either side, except those whose
 * event filter lacks the event.
 */
export async function findRecipients(
  db: Queryable,
  pairs: readonly RecipientQuery[],
): Promise<RecipientRow[][]> {
  const rows = await selectRecipients.run(db, [
    pairs.map(({ retailerId }) => retailerId),
    pairs.map(({ creditorId }) => creditorId),
    pairs.map(({ integrationId }) => integrationId || null),
    pairs.map(({ event }) => event),
  ]);
  const byPlace = Map.groupBy(rows, ({ place }) => place);
  return pairs.map((_, index) => byPlace.get(index + 1) ?? []);
}

const selectRecipientsOf = defineStatement<RecipientRow & { place: number }>(
  'recipients_find_of_integration',
  `SELECT asked.place, destinations.id AS "destinationId", destinations.revision
   FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS asked (integration_id, event, place)
   JOIN destinations USING (integration_id)
   WHERE asked.event = '' OR events IS NULL OR events_revision <> revision OR asked.event = ANY (events)`,
);

/**
 * For each integration, in order, its destination; none for an integration without one, or whose event filter lacks the
 * event of the same place. Where there is no such event, or an empty one, the filter does not apply.
 */
export async function findRecipientsOf(
  db: Queryable,
  integrationIds: readonly string[],
  events: readonly string[],
): Promise<RecipientRow[][]> {
  const eventOfEach = integrationIds.map((_, index) => events[index] ?? '');
  const rows = await selectRecipientsOf.run(db, [integrationIds, eventOfEach]);
  const byPlace = Map.groupBy(rows, ({ place }) => place);
  return integrationIds.map((_, index) => byPlace.get(index + 1) ?? []);
}

/** A destination, with the sealed secrets that sign its webhooks. */
export interface Destination {
  id: string;
  integrationId: string;
  integrationName: string;
  url: string;
  /** How many times the destination was set. */
  revision: number;
  /** The event filter: the names of the webhooks that the destination gets; null where it gets all. */
  events: string[] | null;
  /** The rate limit: how many attempts at webhooks may begin in a second; null where there is none. */
  deliveriesPerSecond: number | null;
  /** Whether the integration has the permission READ_SIN. */
  readsSin: boolean;
  /** The newest secret. */
  sealed: Buffer;
  /** The earlier secrets that still sign, the newest first. */
  previousSecrets: { id: string; sealed: Buffer }[];
}

type DestinationRow = Omit<Destination, 'previousSecrets'> & {
  previousId: string | null;
  previousSealed: Buffer | null;
};

const selectDestinations = defineStatement<DestinationRow>(
  'destinations_find',
  `SELECT destinations.id, destinations.integration_id AS "integrationId", integrations.name AS "integrationName", url, revision,
     CASE WHEN events_revision = revision THEN events END AS events,
     CASE WHEN rate_revision = revision THEN deliveries_per_second END AS "deliveriesPerSecond",
     'READ_SIN' = ANY (permissions) AS "readsSin", destinations.sealed_secret AS sealed,
     previous.id AS "previousId", previous.sealed_secret AS "previousSealed"
   FROM destinations JOIN integrations ON integrations.id = destinations.integration_id
   LEFT JOIN previous_secrets AS previous
     ON previous.destination_id = destinations.id AND previous.signs_until > $2
   WHERE destinations.id = ANY ($1::uuid[])
   ORDER BY destinations.id, previous.replaced_at DESC, previous.id DESC`,
);

/** The destinations that have these ids, each with the earlier secrets that sign at `now`, newest first. */
export async function findDestinations(
  db: Queryable,
  ids: readonly string[],
  now: Date,
): Promise<Destination[]> {
  const rows = await selectDestinations.run(db, [ids, now]);
  return [...Map.groupBy(rows, ({ id }) => id).values()].flatMap(([destination, ...others]) => {
    if (destination === undefined) return [];
    const previousSecrets = [destination, ...others].flatMap(
      ({ previousId: id, previousSealed: sealed }) =>
        id === null || sealed === null ? [] : [{ id, sealed }],
    );
    const { previousId: _, previousSealed: __, ...columns } = destination;
    return [{ ...columns, previousSecrets }];
  });
}

const upsertDestination = defineStatement<{ id: string }>(
  'destination_save',
  `INSERT INTO destinations (id, integration_id, url, sealed_secret, sealed_with, created_at, events, events_revision,
     deliveries_per_second, rate_revision)
   VALUES ($1, $2, $3, $4, $5, $6, $7, 1, $8, 1)
   ON CONFLICT (integration_id)
   DO UPDATE SET url = excluded.url, revision = destinations.revision + 1,
     events = excluded.events, events_revision = destinations.revision + 1,
     deliveries_per_second = excluded.deliveries_per_second, rate_revision = destinations.revision + 1
   RETURNING id`,
);

/** A destination to insert, with its sealed secret. */
export interface NewDestination extends SealedValue {
  id: string;
  integrationId: string;
  url: string;
  createdAt: Date;
  /** The event filter: the names of the webhooks that the destination gets; null where it gets all. */
  events: readonly string[] | null;
  /** The rate limit: how many attempts at webhooks may begin in a second; null where there is none. */
  deliveriesPerSecond: number | null;
}

/**
 * Inserts a destination, or sets the URL, the filter and the rate limit of the destination that the integration already has and
 * increments its revision. Resolves to the id of the integration's destination.
 */
export async function saveDestination(
  db: Queryable,
  row: NewDestination,
): Promise<{ id: string; isNew: boolean }> {
  const { id, integrationId, url, sealed, sealedWith, createdAt, events } = row;
  const settings = [events, row.deliveriesPerSecond];
  const values = [id, integrationId, url, sealed, sealedWith, createdAt, ...settings];
  const [saved] = await upsertDestination.run(db, values);
  if (saved === undefined) throw new Error('an upsert returns its row');
  return { id: saved.id, isNew: saved.id === id };
}

// Deletes the destination's earlier secrets, too, because the foreign key of previous_secrets cascades.
const deleteRow = defineStatement(
  'destination_delete',
  'DELETE FROM destinations WHERE integration_id = $1',
);

/** Deletes the integration's destination and all its secrets; where there is none, changes nothing. */
export async function deleteDestination(db: Queryable, integrationId: string): Promise<void> {
  await deleteRow.run(db, [integrationId]);
}

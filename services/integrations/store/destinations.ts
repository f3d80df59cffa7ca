/** Reads and writes webhook destinations, and finds the destinations that receive an event. */
import type { SealedRecord, SealedTable } from '@creditlane/crypto/rotation';
import type { Database } from '@creditlane/postgres/database';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import { In, Not } from 'typeorm';
import { secretContext } from '../destination.ts';
import { type DestinationRow, destinations } from '../tables.ts';

/** A destination that receives an event, at its current revision. */
export interface RecipientRow {
  destination_id: string;
  revision: number;
}

const selectRecipients = defineStatement<RecipientRow & { place: number }>(
  'find_recipients',
  `SELECT pair.place, destinations.id AS destination_id, destinations.revision
   FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS pair (retailer_id, creditor_id, place)
   CROSS JOIN LATERAL (
     SELECT integration_id FROM retailer_grants AS g
     WHERE g.retailer_id = pair.retailer_id AND g.revoked_at IS NULL
     UNION
     SELECT integration_id FROM creditor_grants AS g
     WHERE g.creditor_id = pair.creditor_id AND g.revoked_at IS NULL AND g.disabled_at IS NULL
   ) AS granted
   JOIN destinations USING (integration_id)
   ORDER BY pair.place, destinations.id`,
);

/** For each pair, in order, the destinations of integrations with a live grant on either side. */
export async function findRecipients(
  db: Queryable,
  pairs: readonly { retailerId: string; creditorId: string }[],
): Promise<RecipientRow[][]> {
  const rows = await selectRecipients.run(db, [
    pairs.map(({ retailerId }) => retailerId),
    pairs.map(({ creditorId }) => creditorId),
  ]);
  const byPlace = Map.groupBy(rows, ({ place }) => place);
  return pairs.map((_, index) => byPlace.get(index + 1) ?? []);
}

export function findDestinations(
  { dataSource }: Database,
  ids: string[],
): Promise<DestinationRow[]> {
  return dataSource.getRepository(destinations).findBy({ id: In(ids) });
}

/**
 * Inserts a destination, or sets the URL of the destination that the integration already has and
 * increments its revision. Resolves to the id of the integration's destination.
 */
export async function saveDestination(
  { dataSource }: Database,
  row: Omit<DestinationRow, 'revision'>,
): Promise<{ id: string; isNew: boolean }> {
  const repository = dataSource.getRepository(destinations);
  const inserted = await repository
    .createQueryBuilder()
    .insert()
    .values(row)
    .orIgnore()
    .returning('id')
    .execute();
  if (inserted.raw.length > 0) return { id: row.id, isNew: true };
  const { integrationId, url } = row;
  await repository.update({ integrationId }, { url, revision: () => 'revision + 1' });
  const { id } = await repository.findOneByOrFail({ integrationId });
  return { id, isNew: false };
}

interface SealedSecret extends SealedRecord {
  id: string;
}

export class SealedSecrets implements SealedTable<SealedSecret> {
  readonly #dataSource: Database['dataSource'];

  constructor({ dataSource }: Database) {
    this.#dataSource = dataSource;
  }

  async findSealedWithOtherKey(keyId: string, limit: number): Promise<SealedSecret[]> {
    const rows = await this.#dataSource
      .getRepository(destinations)
      .find({ where: { sealedWith: Not(keyId) }, take: limit });
    return rows.map(({ id, integrationId, sealedSecret }) => ({
      id,
      context: secretContext(id, integrationId),
      sealed: sealedSecret,
    }));
  }

  async replaceSealed(read: SealedSecret, sealedSecret: Buffer, keyId: string): Promise<void> {
    await this.#dataSource
      .getRepository(destinations)
      .update({ id: read.id, sealedSecret: read.sealed }, { sealedSecret, sealedWith: keyId });
  }
}

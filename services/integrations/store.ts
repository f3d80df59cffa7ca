// All the SQL of the integrations service. What every request begins with is a named statement.

import type { SealedRecord, SealedTable } from '@creditlane/crypto/rotation';
import type { Database } from '@creditlane/postgres/database';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import { In, IsNull, Not } from 'typeorm';
import { secretContext } from './destination.ts';
import type { GrantSide } from './grant.ts';
import type { KeyOwner } from './key.ts';
import {
  creditorGrants,
  type DestinationRow,
  destinations,
  type IntegrationRow,
  integrations,
  type KeyRow,
  keys,
  retailerGrants,
} from './tables.ts';

const findKeyOwner = defineStatement<{ integration_id: string; permissions: string[] }>(
  'find_key_owner',
  `SELECT integrations.id AS integration_id, integrations.permissions
   FROM keys JOIN integrations ON integrations.id = keys.integration_id
   WHERE keys.digest = $1 AND keys.revoked_at IS NULL`,
);

const saveIntegration = defineStatement(
  'save_integration',
  `INSERT INTO integrations (id, name, permissions, created_at) VALUES ($1, $2, $3, $4)
   ON CONFLICT (id) DO UPDATE SET name = excluded.name, permissions = excluded.permissions`,
);

const insertKey = defineStatement(
  'insert_key',
  'INSERT INTO keys (id, integration_id, digest, created_at) VALUES ($1, $2, $3, $4)',
);

const checkGrants = defineStatement<{ retailer: boolean; creditor: boolean }>(
  'check_grants',
  `SELECT
     EXISTS (SELECT FROM retailer_grants
       WHERE integration_id = $1 AND retailer_id = $2 AND revoked_at IS NULL) AS retailer,
     EXISTS (SELECT FROM creditor_grants
       WHERE integration_id = $1 AND creditor_id = $3
         AND revoked_at IS NULL AND disabled_at IS NULL) AS creditor`,
);

/** A destination that is to be told, at the revision it has now. */
export interface RecipientRow {
  destination_id: string;
  revision: number;
}

const findRecipients = defineStatement<RecipientRow & { place: number }>(
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

interface SealedSecret extends SealedRecord {
  id: string;
}

/** The integrations service's records. */
export class Store implements SealedTable<SealedSecret> {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The integration that holds a live key of this digest. */
  async findKeyOwner(digest: Uint8Array): Promise<KeyOwner | undefined> {
    const [row] = await findKeyOwner.run(this.#database.pool, [digest]);
    if (!row) return undefined;
    return { kind: 'integration', callerId: row.integration_id, permissions: row.permissions };
  }

  /** Whether the integration holds live grants; on null it holds none. */
  async checkGrants(
    integrationId: string,
    retailerId: string | null,
    creditorId: string | null,
  ): Promise<Record<GrantSide, boolean>> {
    const values = [integrationId, retailerId, creditorId];
    const [row] = await checkGrants.run(this.#database.pool, values);
    return row ?? { retailer: false, creditor: false };
  }

  /** For each pair, in order, the destinations whose integration is let in on either side. */
  async findRecipients(
    pairs: readonly { retailerId: string; creditorId: string }[],
  ): Promise<RecipientRow[][]> {
    const rows = await findRecipients.run(this.#database.pool, [
      pairs.map(({ retailerId }) => retailerId),
      pairs.map(({ creditorId }) => creditorId),
    ]);
    const byPlace = Map.groupBy(rows, ({ place }) => place);
    return pairs.map((_, n) => byPlace.get(n + 1) ?? []);
  }

  getDestinations(ids: string[]): Promise<DestinationRow[]> {
    return this.#database.dataSource.getRepository(destinations).findBy({ id: In(ids) });
  }

  integrationExists(id: string): Promise<boolean> {
    return this.#database.dataSource.getRepository(integrations).existsBy({ id });
  }

  /** Puts an integration down, or replaces the name and permissions of the one with its id. */
  async saveIntegration(
    tx: Queryable,
    { id, name, permissions, createdAt }: IntegrationRow,
  ): Promise<void> {
    await saveIntegration.run(tx, [id, name, permissions, createdAt]);
  }

  async addKey(tx: Queryable, { id, integrationId, digest, createdAt }: KeyRow): Promise<void> {
    await insertKey.run(tx, [id, integrationId, digest, createdAt]);
  }

  /** Revokes an integration's key; one that is revoked already keeps its time. False: no such key. */
  async revokeKey(integrationId: string, id: string, at: Date): Promise<boolean> {
    const repository = this.#database.dataSource.getRepository(keys);
    const key = { id, integrationId };
    await repository.update({ ...key, revokedAt: IsNull() }, { revokedAt: at });
    return await repository.existsBy(key);
  }

  /** Gives the integration a retailer or a creditor; one that it holds already keeps its time. */
  async grant(side: GrantSide, integrationId: string, id: string, at: Date): Promise<void> {
    const { table, column, row } = GRANTS[side];
    await this.#database.dataSource
      .createQueryBuilder()
      .insert()
      .into(table)
      .values({ integrationId, ...row(id), grantedAt: at, revokedAt: null })
      .orUpdate(['granted_at', 'revoked_at'], ['integration_id', column], {
        overwriteCondition: { where: `${table.options.name}.revoked_at IS NOT NULL` },
      })
      .execute();
  }

  /** Takes a grant away. One that is not held stays so. */
  async revokeGrant(side: GrantSide, integrationId: string, id: string, at: Date): Promise<void> {
    const { table, row } = GRANTS[side];
    const held = { integrationId, ...row(id), revokedAt: IsNull() };
    await this.#database.dataSource.getRepository(table).update(held, { revokedAt: at });
  }

  /** Puts a destination down, or moves the one that the integration has. Says which it now is. */
  async saveDestination(
    row: Omit<DestinationRow, 'revision'>,
  ): Promise<{ id: string; isNew: boolean }> {
    const repository = this.#database.dataSource.getRepository(destinations);
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

  async findSealedWithOtherKey(keyId: string, limit: number): Promise<SealedSecret[]> {
    const rows = await this.#database.dataSource
      .getRepository(destinations)
      .find({ where: { sealedWith: Not(keyId) }, take: limit });
    return rows.map(({ id, integrationId, sealedSecret }) => ({
      id,
      context: secretContext(id, integrationId),
      sealed: sealedSecret,
    }));
  }

  async replaceSealed(read: SealedSecret, sealedSecret: Buffer, keyId: string): Promise<void> {
    await this.#database.dataSource
      .getRepository(destinations)
      .update({ id: read.id, sealedSecret: read.sealed }, { sealedSecret, sealedWith: keyId });
  }
}

const GRANTS = {
  retailer: {
    table: retailerGrants,
    column: 'retailer_id',
    row: (retailerId: string) => ({ retailerId }),
  },
  creditor: {
    table: creditorGrants,
    column: 'creditor_id',
    row: (creditorId: string) => ({ creditorId }),
  },
} as const;

/**
 * The sealed fields of a table of PostgreSQL: what each is bound to, and their column, which a rotation of the key ring
 * reads and writes. The statements are composed, because they are the same for every table with a sealed column.
 */
import type { Database } from '@creditlane/postgres/database';
import { defineStatement, type Statement } from '@creditlane/postgres/statement';
import { readKeyId, type SealContext, seal, unseal } from './envelope.ts';
import type { KeyRing } from './key-ring.ts';
import type { Rewrapped, SealedRecord, SealedTable } from './rotation.ts';

/** Where the sealed fields of a table are. */
interface SealedFieldPlace<Id extends string> {
  table: string;
  column: string;
  /** The columns of the primary key with their types. A field is bound to the value of the last one. */
  primaryKey: Readonly<Record<Id, 'uuid' | 'text'>>;
  /** SQL expression of the tenant of a row. */
  tenantSql: string;
}

/** What is stored of a field: its column, and the id of the key that wraps it, for the column `sealed_with`. */
export interface SealedValue {
  sealed: Buffer;
  sealedWith: string;
}

/** The sealed fields of a table. Each is bound to its row and its tenant; ids in lower case. */
export interface SealedField {
  /** Encrypts the field of a row, with a new data key. */
  seal(ring: KeyRing, plaintext: Uint8Array, row: string, tenant: string): SealedValue;
  /**
   * Decrypts the field of a row.
   * @throws {SealError} unless the field is unchanged and was sealed for this row
   * @throws {UnknownKeyError} while the key ring lacks its key
   */
  unseal(ring: KeyRing, sealed: Uint8Array, row: string, tenant: string): Buffer;
  /** The place that the field of a row is bound to. */
  context(row: string, tenant: string): SealContext;
  /** The column, for a rotation of the key ring. */
  column(pool: Database['pool']): SealedTable;
}

export function defineSealedField<Id extends string>(place: SealedFieldPlace<Id>): SealedField {
  const { table, column } = place;
  const context = (row: string, tenant: string) => ({ table, column, row, tenant });
  return {
    seal(ring, plaintext, row, tenant) {
      const sealed = seal(ring, plaintext, context(row, tenant));
      return { sealed, sealedWith: readKeyId(sealed) };
    },
    unseal: (ring, sealed, row, tenant) => unseal(ring, sealed, context(row, tenant)),
    context,
    column: (pool) => new SealedColumn(pool, place, context),
  };
}

type Row<Id extends string> = Record<Id, string> & { tenant: string; sealed: Buffer };

interface FieldOfRow<Id extends string> extends SealedRecord {
  row: Row<Id>;
}

/** The name of the column with the id of the key that wraps the field; null or empty without one. It has an index. */
const KEY_COLUMN = 'sealed_with';

class SealedColumn<Id extends string> implements SealedTable<FieldOfRow<Id>> {
  readonly name: string;
  readonly #pool: Database['pool'];
  readonly #context: SealedField['context'];
  readonly #ids: Id[];
  readonly #statements;

  constructor(
    pool: Database['pool'],
    place: SealedFieldPlace<Id>,
    context: SealedField['context'],
  ) {
    this.name = place.table;
    this.#pool = pool;
    this.#context = context;
    this.#ids = Object.keys(place.primaryKey) as Id[];
    this.#statements = defineStatements(place);
  }

  async findKeyIds(): Promise<string[]> {
    const rows = await this.#statements.selectKeyIds.run(this.#pool);
    return rows.map(({ key_id }) => key_id);
  }

  async findSealedWith(keyId: string, limit: number, offset: number): Promise<FieldOfRow<Id>[]> {
    const rows = await this.#statements.selectSealedWith.run(this.#pool, [keyId, limit, offset]);
    const boundTo = this.#ids.at(-1) as Id;
    return rows.map((row) => ({
      row,
      sealed: row.sealed,
      context: this.#context(row[boundTo], row.tenant),
    }));
  }

  async replaceSealed(
    fields: readonly Rewrapped<FieldOfRow<Id>>[],
    keyId: string,
  ): Promise<number> {
    const replaced = await this.#statements.updateSealed.run(this.#pool, [
      keyId,
      fields.map(({ record }) => record.sealed),
      fields.map(({ sealed }) => sealed),
      ...this.#ids.map((id) => fields.map(({ record }) => record.row[id])),
    ]);
    return replaced.length;
  }
}

/**
 * The `ORDER BY` makes PostgreSQL read the index also where its statistics say that most rows have this key: it would
 * read the whole table once few of them are left.
 */
function defineStatements<Id extends string>({
  table,
  column,
  primaryKey,
  tenantSql,
}: SealedFieldPlace<Id>): {
  selectKeyIds: Statement<{ key_id: string }>;
  selectSealedWith: Statement<Row<Id>>;
  updateSealed: Statement<object>;
} {
  const columns = Object.entries<string>(primaryKey);
  const ids = columns.map(([name]) => name);
  const arrays = columns.map(([, type], index) => `$${index + 4}::${type}[]`);
  const isSame = ids.map((id) => `sealed_rows.${id} = rewrapped.${id}`).join(' AND ');
  return {
    selectKeyIds: defineStatement(
      `${table}_key_ids`,
      `WITH RECURSIVE used AS (
         (SELECT ${KEY_COLUMN} AS key_id FROM ${table} WHERE ${KEY_COLUMN} > ''
          ORDER BY ${KEY_COLUMN} LIMIT 1)
         UNION ALL
         SELECT (SELECT ${KEY_COLUMN} FROM ${table} WHERE ${KEY_COLUMN} > used.key_id
                 ORDER BY ${KEY_COLUMN} LIMIT 1)
         FROM used WHERE used.key_id IS NOT NULL
       )
       SELECT key_id FROM used WHERE key_id IS NOT NULL`,
    ),
    selectSealedWith: defineStatement(
      `${table}_sealed_with`,
      `SELECT ${ids.join(', ')}, ${tenantSql} AS tenant, ${column} AS sealed FROM ${table}
       WHERE ${KEY_COLUMN} >= $1 AND ${KEY_COLUMN} <= $1 ORDER BY ${KEY_COLUMN} LIMIT $2 OFFSET $3`,
    ),
    updateSealed: defineStatement(
      `${table}_replace_sealed`,
      `WITH rewrapped AS (
         SELECT * FROM unnest($2::bytea[], $3::bytea[], ${arrays.join(', ')})
           AS rewrapped (was, sealed, ${ids.join(', ')})
       ), unlocked AS (
         SELECT ${ids.map((id) => `sealed_rows.${id}`).join(', ')}
         FROM ${table} AS sealed_rows JOIN rewrapped ON ${isSame}
         WHERE sealed_rows.${column} = rewrapped.was
         FOR NO KEY UPDATE OF sealed_rows SKIP LOCKED
       )
       UPDATE ${table} AS sealed_rows SET ${column} = rewrapped.sealed, ${KEY_COLUMN} = $1
       FROM rewrapped JOIN unlocked USING (${ids.join(', ')})
       WHERE ${isSame} AND sealed_rows.${column} = rewrapped.was
       RETURNING ${KEY_COLUMN}`,
    ),
  };
}

/**
 * Tables of earlier versions. A migration that partitions a table leaves the earlier one as a partition of the new one; it is
 * dropped as a whole once none of its rows is within retention.
 */
import type pg from 'pg';
import { defineStatement } from '../statement.ts';
import { changePartitions, dropUnlessKept } from './day-partitions.ts';

export interface EarlierTable {
  readonly name: string;
  /** The table of which it is a partition. */
  readonly parent: string;
  /** Called each minute before `isKept`: writes since when the table is kept, where nothing says so. */
  beginRetention?(pool: pg.Pool): Promise<void>;
  /**
   * Whether the table is to be kept. Asked each minute without a lock, and again under one for which reads and writes of the
   * parent wait: so it reads a few rows, by indexes.
   */
  isKept(db: pg.Pool | pg.PoolClient): Promise<boolean>;
  /** Whether any row keeps the table. Asked without a lock once `isKept` is false, because it may read the whole table. */
  isKeptByAnyRow?(pool: pg.Pool): Promise<boolean>;
}

const selectTable = defineStatement<{ exists: boolean }>(
  'earlier_table_exists',
  'SELECT to_regclass($1::text) IS NOT NULL AS exists',
);

/** Drops the table unless it is to be kept; rejects with `isLockTimeout` while the table is in use. */
export async function dropEarlierTable(pool: pg.Pool, table: EarlierTable): Promise<void> {
  const { name, parent } = table;
  const [found] = await selectTable.run(pool, [name]);
  if (found?.exists !== true) return;
  await table.beginRetention?.(pool);
  if (await table.isKept(pool)) return;
  if (await table.isKeptByAnyRow?.(pool)) return;
  await changePartitions(pool, parent, (tx) =>
    dropUnlessKept(tx, { parent, name, isKept: () => table.isKept(tx) }),
  );
}

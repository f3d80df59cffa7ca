/** A database with every table that this package knows, opened as a service opens its own. */
import { createLog } from '@creditlane/runtime/log';
import { Metrics } from '@creditlane/runtime/metrics';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { type Database, openDatabase } from './database.ts';
import { createDeadLettersSql } from './dead-letters.ts';
import { createIdempotencySql } from './idempotency.ts';
import { createInboxSql } from './inbox.ts';
import { createOutboxSql } from './outbox.ts';
import { createTestDatabase } from './test-database.ts';

export class EveryTable1763000000000 implements MigrationInterface {
  readonly name = 'EveryTable1763000000000';

  async up(runner: QueryRunner): Promise<void> {
    const pieces = [createOutboxSql, createInboxSql, createDeadLettersSql, createIdempotencySql];
    for (const sql of pieces.flat()) await runner.query(sql);
  }

  async down(): Promise<void> {
    throw new Error('test databases are dropped, not migrated down');
  }
}

export interface TestSchema extends Database {
  url: string;
  metrics: Metrics;
}

/** A silent log, for tests that read nothing from it. */
export const silent = createLog('test', { level: 'silent' });

/** Makes and opens such a database; closing it drops it. */
export async function openTestSchema(name: string): Promise<TestSchema> {
  const { url, drop } = await createTestDatabase(name);
  const metrics = new Metrics();
  const database = await openDatabase({
    url,
    name,
    poolSize: 8,
    log: silent,
    metrics,
    entities: [],
    migrations: [EveryTable1763000000000],
  });
  return {
    ...database,
    url,
    metrics,
    async close() {
      await database.close();
      await drop();
    },
  };
}

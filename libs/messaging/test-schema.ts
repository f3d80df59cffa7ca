/** A database with every table that this package knows, opened as a service opens its own. */

import { createIdempotencySql } from '@creditlane/idempotency/stored-answers';
import { type Database, openDatabase } from '@creditlane/postgres/database';
import { createTestDatabase } from '@creditlane/postgres/test-database';
import { createLog } from '@creditlane/runtime/log';
import { Metrics } from '@creditlane/runtime/metrics';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createDeadLettersSql } from './dead-letters.ts';
import { createOutboxSql } from './outbox.ts';
import { createInboxSql } from './transactional-inbox.ts';

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

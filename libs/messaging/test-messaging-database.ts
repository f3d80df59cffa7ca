/** A database with every table that this package knows, opened as a service opens its own. */

import { createIdempotencySql } from '@creditlane/idempotency/stored-answers';
import { type Database, openDatabase } from '@creditlane/postgres/database';
import { createTestDatabase } from '@creditlane/postgres/test-database';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { silentLog } from '@creditlane/runtime/test-log';
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

export interface MessagingTestDatabase extends Database {
  url: string;
  metrics: Metrics;
}

/** Makes and opens such a database; closing it drops it. */
export async function openMessagingTestDatabase(name: string): Promise<MessagingTestDatabase> {
  const { url, drop } = await createTestDatabase(name);
  const metrics = new Metrics();
  const database = await openDatabase({
    url,
    name,
    poolSize: 8,
    log: silentLog,
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

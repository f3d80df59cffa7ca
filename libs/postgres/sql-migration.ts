import type { MigrationInterface, QueryRunner } from 'typeorm';
import type { Migration } from './migrate.ts';

/**
 * A migration of SQL statements alone.
 * @param name ends in a JavaScript timestamp of 13 digits
 */
export function sqlMigration(
  name: string,
  up: readonly string[],
  down: readonly string[],
): Migration {
  return class implements MigrationInterface {
    readonly name = name;

    async up(runner: QueryRunner): Promise<void> {
      for (const statement of up) await runner.query(statement);
    }

    async down(runner: QueryRunner): Promise<void> {
      for (const statement of down) await runner.query(statement);
    }
  };
}

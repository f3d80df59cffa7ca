/** What a migration is, and which versions can use a database after it. */
import type { QueryRunner } from 'typeorm';

/**
 * Which earlier versions can use the database after a migration: all of them when it only adds, the versions that know
 * the migration `since`, or none.
 */
export type Compatibility = 'only adds' | { readonly since: Migration } | 'breaks';

export interface SchemaMigration {
  /** The name of the class when left out. */
  readonly name?: string | undefined;
  /** False for statements that PostgreSQL refuses in a transaction, or that let their locks go one by one. */
  readonly transaction?: boolean | undefined;
  /** 'breaks' when left out. */
  readonly compatibility?: Compatibility | undefined;
  /**
   * Whether the floor is raised at once in a database that this start makes (`raise-floor.ts`): no earlier version has used
   * that.
   */
  readonly raisesFloorOfNewDatabase?: boolean | undefined;
  up(runner: QueryRunner): Promise<void>;
}

/** The class of a migration; its name ends in a JavaScript timestamp of 13 digits. */
export type Migration = new () => SchemaMigration;

/** The compatibility floor of a migration that only adds. */
export const ANY_VERSION = 'any';

export function nameOf(migration: SchemaMigration): string {
  return migration.name ?? migration.constructor.name;
}

/**
 * The compatibility floor that the database keeps for the migration: `ANY_VERSION`, or the name of the migration that
 * a version must know to use the database.
 */
export function floorOf(migration: SchemaMigration, isNewDatabase: boolean): string {
  const { compatibility = 'breaks', raisesFloorOfNewDatabase = false } = migration;
  if (isNewDatabase && raisesFloorOfNewDatabase) return nameOf(migration);
  if (compatibility === 'only adds') return ANY_VERSION;
  return nameOf(compatibility === 'breaks' ? migration : new compatibility.since());
}

/**
 * Row security: PostgreSQL itself shows a request only the rows within the scope of its call, also when a
 * query has lost its own filter. A request without a scope finds nothing and can write nothing.
 */
import { grantToRequestRoleSql, revokeFromRequestRoleSql } from './request-role.ts';

/** The kinds of ids that policies compare with, and the type of the columns that hold them. */
export const SCOPE_TYPES = {
  /** Creditors for which the call may act. */
  creditors: 'uuid',
  /** Retailers for which the call may act. */
  retailers: 'uuid',
  /** Callers whose stored answers the call may read. */
  callers: 'text',
} as const;

export type ScopeKind = keyof typeof SCOPE_TYPES;

/** The setting of a transaction that holds the ids of a kind as a PostgreSQL array. */
export const settingOf = (kind: ScopeKind): string => `creditlane.${kind}`;

/** SQL condition of a policy: `column` holds one of the scope's ids of the kind. */
export function isInScopeSql(column: string, kind: ScopeKind): string {
  // After a transaction that set it, a setting is empty, not null. As a sub-select, which PostgreSQL runs
  // once for each statement, the expression costs a read of one row 16 µs more (of 72).
  const ids = `nullif(current_setting('${settingOf(kind)}', true), '')::${SCOPE_TYPES[kind]}[]`;
  return `${column} = ANY (${ids})`;
}

/**
 * SQL of a migration that puts a table under row security.
 *
 * @param rows condition on the rows that a request may see, change, insert and leave behind
 * @param privileges what requests do with the table, such as "SELECT, INSERT"
 */
export function enableRowSecuritySql(
  table: string,
  { rows, privileges }: { rows: string; privileges: string },
): string[] {
  return [
    `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`,
    `CREATE POLICY scope ON ${table} USING (${rows})`,
    grantToRequestRoleSql(privileges, table),
  ];
}

/** SQL that reverts `enableRowSecuritySql`. */
export function disableRowSecuritySql(table: string): string[] {
  return [
    revokeFromRequestRoleSql(table),
    `DROP POLICY scope ON ${table}`,
    `ALTER TABLE ${table} DISABLE ROW LEVEL SECURITY`,
  ];
}

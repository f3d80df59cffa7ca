/**
 * Row security: PostgreSQL itself shows a request only the rows within the scope of its call, also when a
 * query has lost its own filter. A request without a scope finds nothing and can write nothing.
 *
 * A scope consists of settings of the transaction, one for each kind of ids.
 */
import { grantToRequestRoleSql } from './request-role.ts';

/** The kinds of ids that policies compare with, and the type of the columns that hold them. */
export const SCOPE_TYPES = {
  /** Creditors for which the call may act. */
  creditors: 'uuid',
  /** Retailers for which the call may act. */
  retailers: 'uuid',
  /** Integrations whose own records the call may use. */
  integrations: 'uuid',
  /** Webhook destinations whose deliveries the call may read and send again. */
  destinations: 'uuid',
  /** Callers whose stored answers the call may read. */
  callers: 'text',
} as const;

export type ScopeKind = keyof typeof SCOPE_TYPES;

/** Stands before, between and after the ids of a setting, so that an id is found as a whole; no id has it. */
export const ID_SEPARATOR = '\n';
const SEPARATOR_SQL = `E'\\n'`;

/** SQL that sets the ids of a kind until the transaction ends, from a parameter that is an array or null. */
export function setScopeIdsSql(kind: ScopeKind, parameter: string): string {
  const ids = `array_to_string(${parameter}::${SCOPE_TYPES[kind]}[], ${SEPARATOR_SQL})`;
  const value = `${SEPARATOR_SQL} || ${ids} || ${SEPARATOR_SQL}`;
  return `set_config('${settingOf(kind)}', ${value}, true)`;
}

/**
 * SQL condition of a policy: `column` holds one of the scope's ids of the kind.
 *
 * The id is searched for in the text of the setting. Converting the setting to an array for every row instead
 * made a round of 64 decisions of as many creditors cost PostgreSQL three times as much; converting it once,
 * in a sub-select, cost the read of one row 16 µs more (of 72).
 */
export function isInScopeSql(column: string, kind: ScopeKind): string {
  const id = `${SEPARATOR_SQL} || ${column} || ${SEPARATOR_SQL}`;
  // Without ids the setting is null, or empty after a transaction that set it.
  return `strpos(current_setting('${settingOf(kind)}', true), ${id}) > 0`;
}

/** SQL expression of a policy that needs an index: the array of the scope's UUIDs of the kind. */
export function scopeIdsSql(kind: ScopeKind): string {
  const text = `btrim(current_setting('${settingOf(kind)}', true), ${SEPARATOR_SQL})`;
  return `string_to_array(${text}, ${SEPARATOR_SQL})::${SCOPE_TYPES[kind]}[]`;
}

function settingOf(kind: ScopeKind): string {
  return `creditlane.${kind}`;
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

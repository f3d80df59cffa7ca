/**
 * The request role of a database: the PostgreSQL role as which a service runs the queries of requests.
 *
 * The role that the service logs in as owns the tables, so that row security does not apply to it. The
 * request role owns nothing, cannot log in, and sees the rows that its policies permit.
 */
import { LoggableError } from '@creditlane/runtime/telemetry/loggable-error';
import pg from 'pg';

/** Follows the name of the database in the name of its request role. */
const SUFFIX = '_requests';

/** The name of a database's request role. */
export function requestRoleOf(database: string): string {
  return database + SUFFIX;
}

/** The statements by which an administrator makes the request role of a database that `owner` owns. */
export function createRequestRoleSql(database: string, owner: string): readonly [string, string] {
  const role = pg.escapeIdentifier(requestRoleOf(database));
  return [`CREATE ROLE ${role} NOLOGIN`, `GRANT ${role} TO ${pg.escapeIdentifier(owner)}`];
}

/** SQL of a migration that gives the request role privileges on a table, such as "SELECT, INSERT". */
export function grantToRequestRoleSql(privileges: string, table: string): string {
  return forRequestRoleSql(`GRANT ${privileges} ON ${table} TO %I`);
}

/** SQL of a migration that takes all privileges on a table from the request role. */
export function revokeFromRequestRoleSql(table: string): string {
  return forRequestRoleSql(`REVOKE ALL ON ${table} FROM %I`);
}

// A migration is the same text for every database, and the role's name begins with the database's.
function forRequestRoleSql(statement: string): string {
  return `DO $do$ BEGIN EXECUTE format('${statement}', current_database() || '${SUFFIX}'); END $do$`;
}

/** The database has no request role that its service can use safely; the message says what to run. */
export class RequestRoleError extends LoggableError {
  constructor(problem: string, ...remedy: string[]) {
    super(`${problem}. Run as PostgreSQL's administrator: ${remedy.join('; ')};`);
  }
}

/**
 * The name of the request role of the client's database. Throws `RequestRoleError` when the role is missing,
 * when the client's own role may not act as it, and when row security does not apply to it.
 */
export async function findRequestRole(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{
    database: string;
    owner: string;
    usable: boolean | null;
    unrestricted: boolean | null;
  }>(
    `SELECT database, current_user AS owner, pg_has_role(role.oid, 'MEMBER') AS usable,
       rolsuper OR rolbypassrls AS unrestricted
     FROM current_database() AS database
     LEFT JOIN pg_roles AS role ON rolname = database || '${SUFFIX}'`,
  );
  const [found] = rows;
  if (found === undefined) throw new Error('the query returns one row for every database');
  const { database, owner, usable, unrestricted } = found;
  const role = requestRoleOf(database);
  const [create, grant] = createRequestRoleSql(database, owner);
  if (usable === null) {
    const problem = `PostgreSQL has no role ${role}, as which requests read and write the database`;
    throw new RequestRoleError(problem, create, grant);
  }
  if (!usable) {
    const problem = `the role ${owner} may not act as ${role}, as which requests use the database`;
    throw new RequestRoleError(problem, grant);
  }
  if (unrestricted) {
    const restrict = `ALTER ROLE ${pg.escapeIdentifier(role)} NOSUPERUSER NOBYPASSRLS`;
    throw new RequestRoleError(`row security does not apply to the role ${role}`, restrict);
  }
  return role;
}

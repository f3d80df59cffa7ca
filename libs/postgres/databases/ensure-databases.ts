/** Creates the services' databases, the roles that own them, their request roles and keepers, where they are missing. */
import type pg from 'pg';
import { VerifyingClient } from '../connection/verifying-client.ts';
import { isPermissionDenied } from '../error-classes.ts';
import { createRequestRoleSql, requestRoleOf } from '../row-security/request-role.ts';
import { ensureKeeper } from './kept-tables.ts';

export interface OwnedDatabase {
  /** The name of the database and of the role that owns it. */
  name: string;
  /** The password with which the role is made. */
  password: string;
}

export interface EnsureOptions {
  /**
   * Whether roles that exist get their password and their login, too. For servers where nothing else changes passwords: it
   * undoes a change made in PostgreSQL, and lets in again a role whose login was taken away.
   */
  setPasswords?: boolean;
}

/** What the user of the URL, who is no superuser, could not do. */
export interface Unfinished {
  /** Those of the databases "postgres" and "template1" to which every role may connect. */
  openDatabases: string[];
  /** The databases whose tables the services own all alone. */
  withoutKeeper: string[];
}

/** The databases of every server, to which every role may connect unless told otherwise. */
const COMMON_DATABASES = ['postgres', 'template1'];
/** Calls for one server wait for each other: PostgreSQL fails where two change access to one database. */
export const ACCESS_LOCK_ID = 7_421_763;

/**
 * Creates the databases and roles that are missing on a server; repeating it changes nothing. Each owner
 * may connect to its own database alone, and a request role and a keeper to none. The databases "postgres" and
 * "template1" are closed to roles without a grant.
 *
 * @param adminUrl the URL of any database of the server, with a user who may create both
 */
export async function ensureDatabases(
  adminUrl: string,
  databases: readonly OwnedDatabase[],
  { setPasswords = false }: EnsureOptions = {},
): Promise<Unfinished> {
  const admin = new VerifyingClient({ connectionString: adminUrl });
  admin.on('error', () => undefined); // The query under way reports it.
  await admin.connect();
  try {
    await admin.query('SELECT pg_advisory_lock($1::bigint)', [ACCESS_LOCK_ID]);
    for (const database of databases) {
      await ensureRole(admin, database, setPasswords);
      await ensureDatabase(admin, database);
    }
    const openDatabases = await closeCommonDatabases(admin);
    const withoutKeeper: string[] = [];
    for (const { name } of databases) {
      if (!(await makeKeeper(adminUrl, name))) withoutKeeper.push(name);
    }
    return { openDatabases, withoutKeeper };
  } finally {
    await admin.end();
  }
}

/** False for a user who is neither a superuser nor the one who has made the database. */
async function makeKeeper(adminUrl: string, database: string): Promise<boolean> {
  const url = new URL(adminUrl);
  url.pathname = `/${encodeURIComponent(database)}`;
  const admin = new VerifyingClient({ connectionString: url.href });
  admin.on('error', () => undefined); // The query under way reports it.
  try {
    await admin.connect();
    await ensureKeeper(admin, database);
    return true;
  } catch (error) {
    if (isPermissionDenied(error)) return false;
    throw error;
  } finally {
    await admin.end().catch(() => undefined);
  }
}

async function ensureRole(
  admin: pg.Client,
  { name, password }: OwnedDatabase,
  setPasswords: boolean,
): Promise<void> {
  const exists = await roleExists(admin, name);
  if (exists && !setPasswords) return;
  const verb = exists ? 'ALTER' : 'CREATE';
  const id = admin.escapeIdentifier(name);
  await admin.query(`${verb} ROLE ${id} LOGIN PASSWORD ${admin.escapeLiteral(password)}`);
}

async function ensureDatabase(admin: pg.Client, { name }: OwnedDatabase): Promise<void> {
  const id = admin.escapeIdentifier(name);
  const database = await findDatabase(admin, name);
  if (database?.isOpen !== false) {
    await joinRole(admin, name);
    if (database === undefined) await admin.query(`CREATE DATABASE ${id} OWNER ${id}`);
    await closeDatabase(admin, name);
  }
  const [createRequestRole, grantRequestRole] = createRequestRoleSql(name, name);
  if (!(await roleExists(admin, requestRoleOf(name)))) await admin.query(createRequestRole);
  await admin.query(grantRequestRole);
}

async function roleExists(admin: pg.Client, name: string): Promise<boolean> {
  const { rowCount } = await admin.query('SELECT FROM pg_roles WHERE rolname = $1', [name]);
  return rowCount !== 0;
}

/** Makes the user a member of the role. Only a superuser or a member may make a database of the role, and close it. */
async function joinRole(admin: pg.Client, role: string): Promise<void> {
  const { rows } = await admin.query<{ isMember: boolean }>(
    `SELECT pg_has_role($1, 'SET') AND pg_has_role($1, 'USAGE') AS "isMember"`,
    [role],
  );
  if (rows[0]?.isMember) return;
  const id = admin.escapeIdentifier(role);
  await admin.query(`GRANT ${id} TO CURRENT_USER WITH SET TRUE, INHERIT TRUE`);
}

/** Whether every role may connect to a database; undefined when there is no such database. */
async function findDatabase(
  admin: pg.Client,
  name: string,
): Promise<{ isOpen: boolean } | undefined> {
  // Without an access list, PUBLIC has the usual privileges: CONNECT and TEMPORARY.
  const { rows } = await admin.query<{ isOpen: boolean }>(
    `SELECT datacl IS NULL OR EXISTS (
       SELECT FROM aclexplode(datacl) WHERE grantee = 0 AND privilege_type IN ('CONNECT', 'TEMPORARY')
     ) AS "isOpen"
     FROM pg_database WHERE datname = $1`,
    [name],
  );
  return rows[0];
}

/** PostgreSQL only warns, and the database stays open, where `admin` is neither a superuser nor a member of its owner. */
async function closeDatabase(admin: pg.Client, name: string): Promise<void> {
  const id = admin.escapeIdentifier(name);
  await admin.query(`REVOKE CONNECT, TEMPORARY ON DATABASE ${id} FROM PUBLIC`);
}

/** Resolves to the databases that stay open. */
async function closeCommonDatabases(admin: pg.Client): Promise<string[]> {
  const open: string[] = [];
  for (const name of COMMON_DATABASES) {
    if ((await findDatabase(admin, name))?.isOpen) await closeDatabase(admin, name);
    if ((await findDatabase(admin, name))?.isOpen) open.push(name);
  }
  return open;
}

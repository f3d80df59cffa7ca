/** Creates the services' databases, the roles that own them and their request roles, where they are missing. */
import pg from 'pg';
import { createRequestRoleSql, requestRoleOf } from './row-security/request-role.ts';

export interface OwnedDatabase {
  /** The name of the database and of the role that owns it. */
  name: string;
  /** The role's password, set also where the role exists. */
  password: string;
}

/**
 * Creates the databases and roles that are missing on a server; repeating it changes nothing. Each owner
 * may connect to its own database alone, and a request role to none.
 *
 * @param adminUrl the URL of any database of the server, with a user who may create both
 */
export async function ensureDatabases(
  adminUrl: string,
  databases: readonly OwnedDatabase[],
): Promise<void> {
  const admin = new pg.Client({ connectionString: adminUrl });
  admin.on('error', () => undefined); // The query under way reports it.
  await admin.connect();
  try {
    for (const database of databases) await ensureDatabase(admin, database);
  } finally {
    await admin.end();
  }
}

async function ensureDatabase(admin: pg.Client, { name, password }: OwnedDatabase): Promise<void> {
  const id = admin.escapeIdentifier(name);
  const verb = (await roleExists(admin, name)) ? 'ALTER' : 'CREATE';
  await admin.query(`${verb} ROLE ${id} LOGIN PASSWORD ${admin.escapeLiteral(password)}`);
  const database = await admin.query('SELECT FROM pg_database WHERE datname = $1', [name]);
  if (database.rowCount === 0) await admin.query(`CREATE DATABASE ${id} OWNER ${id}`);
  await admin.query(`REVOKE CONNECT, TEMPORARY ON DATABASE ${id} FROM PUBLIC`);
  const [createRequestRole, grantRequestRole] = createRequestRoleSql(name, name);
  if (!(await roleExists(admin, requestRoleOf(name)))) await admin.query(createRequestRole);
  await admin.query(grantRequestRole);
}

async function roleExists(admin: pg.Client, name: string): Promise<boolean> {
  const { rowCount } = await admin.query('SELECT FROM pg_roles WHERE rolname = $1', [name]);
  return rowCount !== 0;
}

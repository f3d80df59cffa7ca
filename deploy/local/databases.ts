import pg from 'pg';
import type { Secrets } from './secrets.ts';
import { DATABASES, type DatabaseOwner } from './services.ts';

/**
 * Gives each service a database and a role that owns that one and may connect to no other. Safe to
 * repeat. Resolves to each service's connection URL. `suffix` keeps several houses on one server apart.
 */
export async function prepareDatabases(
  adminUrl: string,
  secrets: Secrets,
  suffix = '',
): Promise<Record<DatabaseOwner, string>> {
  return asAdmin(adminUrl, async (admin) => {
    const urls = {} as Record<DatabaseOwner, string>;
    for (const service of Object.keys(DATABASES) as DatabaseOwner[]) {
      const name = DATABASES[service] + suffix;
      const { databasePassword } = secrets.services[service];
      await prepareDatabase(admin, name, databasePassword);
      const url = new URL(adminUrl);
      url.username = name;
      url.password = databasePassword;
      url.pathname = `/${name}`;
      urls[service] = url.href;
    }
    return urls;
  });
}

async function prepareDatabase(admin: pg.Client, name: string, password: string): Promise<void> {
  const id = admin.escapeIdentifier(name);
  const role = await admin.query('SELECT FROM pg_roles WHERE rolname = $1', [name]);
  const verb = role.rowCount === 0 ? 'CREATE' : 'ALTER';
  await admin.query(`${verb} ROLE ${id} LOGIN PASSWORD ${admin.escapeLiteral(password)}`);
  const database = await admin.query('SELECT FROM pg_database WHERE datname = $1', [name]);
  if (database.rowCount === 0) await admin.query(`CREATE DATABASE ${id} OWNER ${id}`);
  await admin.query(`REVOKE CONNECT, TEMPORARY ON DATABASE ${id} FROM PUBLIC`);
}

/** Drops what `prepareDatabases` made, whoever is still connected. */
export async function dropDatabases(adminUrl: string, suffix: string): Promise<void> {
  await asAdmin(adminUrl, async (admin) => {
    for (const name of Object.values(DATABASES)) {
      const id = admin.escapeIdentifier(name + suffix);
      await admin.query(`DROP DATABASE IF EXISTS ${id} WITH (FORCE)`);
      await admin.query(`DROP ROLE IF EXISTS ${id}`);
    }
  });
}

async function asAdmin<T>(adminUrl: string, work: (admin: pg.Client) => Promise<T>): Promise<T> {
  const admin = new pg.Client({ connectionString: adminUrl });
  admin.on('error', () => undefined); // The query under way reports it.
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.end();
  }
}

import type { AnyService } from '@creditlane/service/define-service';
import pg from 'pg';
import { type Secrets, secretsOf } from './secrets.ts';
import { type DatabaseOwner, databaseNames, SERVICES } from './services.ts';

/** The URL of each service's database. */
export type DatabaseUrls = Record<DatabaseOwner, string>;

/**
 * Creates for each service a database and a role that owns it and may connect to no other, where they
 * are missing. Resolves to the URL of each. `suffix` keeps several platforms on one server apart.
 */
export async function prepareDatabases(
  adminUrl: string,
  secrets: Secrets,
  suffix = '',
  services: readonly AnyService[] = SERVICES,
): Promise<DatabaseUrls> {
  return asAdmin(adminUrl, async (admin) => {
    const urls: Record<string, string> = {};
    for (const [service, database] of Object.entries(databaseNames(services))) {
      const name = database + suffix;
      const { databasePassword } = secretsOf(secrets, service);
      await prepareDatabase(admin, name, databasePassword);
      const url = new URL(adminUrl);
      url.username = name;
      url.password = databasePassword;
      url.pathname = `/${name}`;
      urls[service] = url.href;
    }
    return urls as DatabaseUrls;
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

/** Drops what `prepareDatabases` created, whether or not clients are connected. */
export async function dropDatabases(adminUrl: string, suffix: string): Promise<void> {
  await asAdmin(adminUrl, async (admin) => {
    for (const name of Object.values(databaseNames(SERVICES))) {
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

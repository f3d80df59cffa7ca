// Creates and drops the services' databases on a PostgreSQL server.
import { ensureDatabases } from '@creditlane/postgres/ensure-databases';
import { keeperOf } from '@creditlane/postgres/kept-tables';
import { requestRoleOf } from '@creditlane/postgres/row-security/request-role';
import type { AnyService } from '@creditlane/service/define-service';
import pg from 'pg';
import { type Secrets, secretsOf } from './secrets.ts';
import { DATABASES, type DatabaseOwner, databaseNames, SERVICES } from './services.ts';

/** The URL of each service's database. */
export type DatabaseUrls = Record<DatabaseOwner, string>;

/**
 * Creates for each service a database, a role that owns it and may connect to no other, and its request
 * role, where they are missing, and gives each owner the password of the secrets. Resolves to the URL of each. `suffix` keeps
 * several platforms on one server apart.
 */
export async function prepareDatabases(
  adminUrl: string,
  secrets: Secrets,
  suffix = '',
  services: readonly AnyService[] = SERVICES,
): Promise<DatabaseUrls> {
  const owned = Object.entries(databaseNames(services)).map(([service, database]) => ({
    name: database + suffix,
    password: secretsOf(secrets, service).databasePassword,
  }));
  await ensureDatabases(adminUrl, owned, { setPasswords: true });
  return databaseUrlsOf(adminUrl, secrets, suffix, services);
}

/** The URLs of the databases that `prepareDatabases` has made, on the server that `serverUrl` reaches. */
export function databaseUrlsOf(
  serverUrl: string,
  secrets: Secrets,
  suffix: string,
  services: readonly AnyService[],
): DatabaseUrls {
  const urls = Object.entries(databaseNames(services)).map(([service, database]) => {
    const url = new URL(serverUrl);
    url.username = database + suffix;
    url.password = secretsOf(secrets, service).databasePassword;
    url.pathname = `/${database}${suffix}`;
    return [service, url.href];
  });
  return Object.fromEntries(urls) as DatabaseUrls;
}

/** Drops what `prepareDatabases` created, whether or not clients are connected. */
export async function dropDatabases(adminUrl: string, suffix: string): Promise<void> {
  const admin = new pg.Client({ connectionString: adminUrl });
  admin.on('error', () => undefined); // The query under way reports it.
  await admin.connect();
  try {
    for (const name of Object.values(DATABASES)) {
      const id = admin.escapeIdentifier(name + suffix);
      const requestRole = admin.escapeIdentifier(requestRoleOf(name + suffix));
      await admin.query(`DROP DATABASE IF EXISTS ${id} WITH (FORCE)`);
      const keeper = admin.escapeIdentifier(keeperOf(name + suffix));
      await admin.query(`DROP ROLE IF EXISTS ${requestRole}, ${keeper}, ${id}`);
    }
  } finally {
    await admin.end();
  }
}

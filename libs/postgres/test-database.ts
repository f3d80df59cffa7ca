/** A database for one test file, on the PostgreSQL server of the test run. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { RequestPool } from './row-security/request-pool.ts';
import { createRequestRoleSql, requestRoleOf } from './row-security/request-role.ts';
import { RowTurns } from './row-turns.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Connects as a superuser to the PostgreSQL of the test run. */
    postgresUrl: string;
    /** Begins the names of the databases that others are copies of; the run drops them at its end. */
    templatePrefix: string;
  }
}

export interface TestDatabase {
  /** Connects as a role that owns only this database, as a service does. */
  url: string;
  /** A pool of the owner, for the test's own statements. */
  sql: pg.Pool;
  /** Connections of `sql` that act as the request role. */
  requests: RequestPool;
  /** The name of the request role. */
  requestRole: string;
  /** Opens another pool of the owner. `drop` ends it. */
  connect(config?: pg.PoolConfig): pg.Pool;
  /** Closes all connections and drops the database and its roles. */
  drop(): Promise<void>;
}

/** Makes the tables of the database with this URL, and closes its connections. */
export type MakeTables = (url: string) => Promise<void>;

/** The ids of the databases that others are copies of, by what has made their tables. */
const templates = new Map<MakeTables, Promise<string>>();

async function createTemplate(makeTables: MakeTables): Promise<string> {
  const { url, drop, id } = await createDatabase(inject('templatePrefix'));
  try {
    await makeTables(url);
    return id;
  } catch (error) {
    await drop();
    throw error;
  }
}

/**
 * Creates a database. `name` shows whose database it is and need not be unique. It is empty without `makeTables`, and otherwise a
 * copy of one whose tables this function has made: a copy takes 30 ms, and all migrations of a service take 150 ms.
 */
export async function createTestDatabase(
  name: string,
  makeTables?: MakeTables,
): Promise<TestDatabase> {
  if (makeTables === undefined) return createDatabase(name);
  const known = templates.get(makeTables) ?? createTemplate(makeTables);
  templates.set(makeTables, known);
  return createDatabase(name, await known);
}

async function createDatabase(
  name: string,
  template?: string,
): Promise<TestDatabase & { id: string }> {
  const adminUrl = inject('postgresUrl');
  const id = `${name.replaceAll(/[^a-z0-9]+/g, '_')}_${randomBytes(4).toString('hex')}`;
  const requestRole = requestRoleOf(id);
  const password = randomBytes(12).toString('hex');
  await asAdmin([
    `CREATE ROLE ${id} LOGIN PASSWORD '${password}'`,
    // Copied by way of the log, it takes twice as long.
    `CREATE DATABASE ${id} OWNER ${id} TEMPLATE ${template ?? 'template1'} STRATEGY file_copy`,
    ...createRequestRoleSql(id, id),
    // What the roles of the template own and may do, those of the copy may, too.
    ...(template === undefined
      ? []
      : [`GRANT ${template} TO ${id}`, `GRANT ${requestRoleOf(template)} TO ${requestRole}`]),
  ]);
  const url = new URL(adminUrl);
  url.username = id;
  url.password = password;
  url.pathname = `/${id}`;
  const pools: pg.Pool[] = [];
  const connect = (config?: pg.PoolConfig) => {
    const pool = new pg.Pool({ ...config, connectionString: url.href });
    // After `end`, too, the server may close a connection before the pool does.
    pool.on('error', () => undefined);
    pools.push(pool);
    return pool;
  };
  const sql = connect({ max: 4 });
  return {
    id,
    url: url.href,
    sql,
    requests: new RequestPool(sql, requestRole, new RowTurns({ connections: 4, waitMs: 10_000 })),
    requestRole,
    connect,
    async drop() {
      await Promise.all(pools.map((pool) => pool.end()));
      await asAdmin([
        `DROP DATABASE ${id} WITH (FORCE)`,
        `DROP ROLE ${requestRole}`,
        `DROP ROLE ${id}`,
      ]);
    },
  };
}

/** Runs statements as a superuser of the test run's server. */
export async function asAdmin(statements: readonly string[]): Promise<void> {
  const admin = new pg.Client({ connectionString: inject('postgresUrl') });
  await admin.connect();
  try {
    for (const text of statements) await admin.query(text);
  } finally {
    await admin.end();
  }
}

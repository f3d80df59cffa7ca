/** A database for one test file, on the server that the test run shares. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** Connects as a superuser to the PostgreSQL of the test run. */
    postgresUrl: string;
  }
}

export interface TestDatabase {
  /** Connects as a role that owns this database and nothing else, like a service's. */
  url: string;
  /** To look into the database with, and to get in a service's way, as that role. */
  sql: pg.Pool;
  /** Another pool as that role. `drop` ends it. */
  connect(config?: pg.PoolConfig): pg.Pool;
  /** Closes whatever is still connected and drops database and role. */
  drop(): Promise<void>;
}

/** Makes an empty database; `name` tells people whose it is, and need not be unique. */
export async function createTestDatabase(name: string): Promise<TestDatabase> {
  const adminUrl = inject('postgresUrl');
  const id = `${name.replaceAll(/[^a-z0-9]+/g, '_')}_${randomBytes(4).toString('hex')}`;
  const password = randomBytes(12).toString('hex');
  await asAdmin(adminUrl, [
    `CREATE ROLE ${id} LOGIN PASSWORD '${password}'`,
    `CREATE DATABASE ${id} OWNER ${id}`,
  ]);
  const url = new URL(adminUrl);
  url.username = id;
  url.password = password;
  url.pathname = `/${id}`;
  const pools: pg.Pool[] = [];
  const connect = (config?: pg.PoolConfig) => {
    const pool = new pg.Pool({ ...config, connectionString: url.href });
    // Of an ended pool, too, the server may close a connection before the connection has said goodbye.
    pool.on('error', () => undefined);
    pools.push(pool);
    return pool;
  };
  return {
    url: url.href,
    sql: connect({ max: 4 }),
    connect,
    async drop() {
      await Promise.all(pools.map((pool) => pool.end()));
      await asAdmin(adminUrl, [`DROP DATABASE ${id} WITH (FORCE)`, `DROP ROLE ${id}`]);
    },
  };
}

async function asAdmin(adminUrl: string, statements: string[]): Promise<void> {
  const admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  try {
    for (const text of statements) await admin.query(text);
  } finally {
    await admin.end();
  }
}

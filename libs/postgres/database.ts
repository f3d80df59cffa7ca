/** A service's own database: migrated, pooled, watched. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import pg from 'pg';
import { DataSource, type EntitySchema } from 'typeorm';
import { isDatabaseUnavailable } from './error-classes.ts';
import { startHeartbeat } from './heartbeat.ts';
import { type Migration, migrate } from './migrate.ts';
import { typeormLog } from './typeorm-log.ts';
import { VALUE_TYPES } from './value-types.ts';

export interface DatabaseOptions {
  url: string;
  /** Connections at most, shared by TypeORM and the statements. */
  poolSize: number;
  /** The service's name, shown by pg_stat_activity. */
  name: string;
  log: Log;
  metrics: Metrics;
  entities: EntitySchema[];
  migrations: Migration[];
  statementTimeoutMs?: number;
  /** How long a statement waits for a row that another holds; as long as it may run when left out. */
  lockTimeoutMs?: number;
  /** How long to wait for a PostgreSQL that is not there; for as long as it takes when left out. */
  waitMs?: number;
}

export interface Database {
  /** For cold paths. */
  dataSource: DataSource;
  /** For named statements; TypeORM's own pool. */
  pool: pg.Pool;
  /** True, or why the database cannot be used just now. */
  ready(): true | string;
  close(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 5_000;
const RETRY_MS = 250;
const IDLE_TIMEOUT_MS = 3_000;
/** Someone who waits says so now and then. */
const TRIES_PER_WORD = 120;

/**
 * Waits for PostgreSQL, migrates the database and opens it. Throws `DatabaseNewerError`, or what
 * PostgreSQL said when it refuses us or is not there within `waitMs`.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { url, name, log, statementTimeoutMs = 5_000 } = options;
  await onceThere(options, async () => {
    await assertReachable(url);
    await migrate(url, options.migrations, log);
  });

  const dataSource = new DataSource({
    type: 'postgres',
    url,
    poolSize: options.poolSize,
    applicationName: name,
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    installExtensions: false,
    logger: typeormLog(log),
    entities: options.entities,
    // A connection that dies while idle is replaced by the pool; the process lives on.
    poolErrorHandler: (err) => log.warn({ err }, 'idle database connection lost'),
    extra: {
      types: VALUE_TYPES,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      // What a burst needed and the calm after it does not; each connection is a process of the server.
      idleTimeoutMillis: IDLE_TIMEOUT_MS,
      // Of a disk without a moving arm. It also keeps the relay on the outbox's index, in its order,
      // when a backlog grows faster than the planner's statistics. And a prepared statement is planned
      // once, also where PostgreSQL, guessing at the lengths of its arrays, would plan it each time.
      options: '-c random_page_cost=1.1 -c plan_cache_mode=force_generic_plan',
      statement_timeout: statementTimeoutMs,
      lock_timeout: options.lockTimeoutMs ?? 0,
      // Beyond the server's own limit, for a server that no longer answers at all.
      query_timeout: statementTimeoutMs + CONNECT_TIMEOUT_MS,
      idle_in_transaction_session_timeout: 2 * statementTimeoutMs,
    },
  });
  await dataSource.initialize();
  const pool = poolOf(dataSource);
  measure(pool, name, options.metrics);
  const heartbeat = startHeartbeat(pool, log);
  return {
    dataSource,
    pool,
    ready: heartbeat.ready,
    async close() {
      await heartbeat.close();
      await dataSource.destroy();
    },
  };
}

/** Works with a PostgreSQL that may not be there, or go away meanwhile, and tries again until it is. */
async function onceThere(
  { log, waitMs = Number.POSITIVE_INFINITY }: DatabaseOptions,
  work: () => Promise<void>,
): Promise<void> {
  const deadlineMs = performance.now() + waitMs;
  for (let tries = 0; ; tries += 1) {
    try {
      return await work();
    } catch (err) {
      if (!isDatabaseUnavailable(err) || performance.now() >= deadlineMs) throw err;
      if (tries % TRIES_PER_WORD === 0) log.warn({ err }, 'waiting for PostgreSQL');
      await delay(RETRY_MS);
    }
  }
}

async function assertReachable(url: string): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  client.on('error', () => undefined); // A server that ends while we leave was reachable.
  await client.connect();
  await client.end();
}

/** TypeORM keeps its pool on the driver, outside the types it publishes. */
function poolOf(dataSource: DataSource): pg.Pool {
  const { master } = dataSource.driver as unknown as { master?: pg.Pool };
  if (!(master instanceof pg.Pool)) throw new Error("TypeORM's driver has no pg.Pool any more");
  return master;
}

function measure(pool: pg.Pool, database: string, metrics: Metrics): void {
  metrics.gauge('database_pool_size', 'Connections at most.', ['database'], (gauge) => {
    gauge.set({ database }, pool.options.max);
  });
  metrics.gauge(
    'database_connections',
    'Connections of the pool by what they do; "waiting" counts the callers without one.',
    ['database', 'state'],
    (gauge) => {
      gauge.set({ database, state: 'idle' }, pool.idleCount);
      gauge.set({ database, state: 'busy' }, pool.totalCount - pool.idleCount);
      gauge.set({ database, state: 'waiting' }, pool.waitingCount);
    },
  );
}

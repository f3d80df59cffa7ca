/** Opens a service's database: waits for it, migrates it, and pools its connections. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import pg from 'pg';
import { DataSource, type EntitySchema } from 'typeorm';
import { startHeartbeat } from './connection/heartbeat.ts';
import { VALUE_TYPES } from './connection/value-types.ts';
import { VerifyingClient } from './connection/verifying-client.ts';
import { handOverTables } from './databases/kept-tables.ts';
import { isDatabaseUnavailable, isLoginRefused, isTlsRefused } from './error-classes.ts';
import { type Migration, migrate } from './migrations/migrate.ts';
import { RequestPool } from './row-security/request-pool.ts';
import { findRequestRole } from './row-security/request-role.ts';
import { RowTurns } from './row-turns.ts';
import { typeormLog } from './typeorm-log.ts';

export interface DatabaseOptions {
  /** A function gives the URL for each new connection, such as one with a new password. */
  url: string | (() => string);
  /** The largest number of connections of `pool`, shared by TypeORM and the statements. */
  poolSize: number;
  /** The service's name, which pg_stat_activity shows. */
  name: string;
  log: Log;
  metrics: Metrics;
  entities: EntitySchema[];
  migrations: Migration[];
  /** The tables that the service fills and may not change (`databases/kept-tables.ts`). */
  keptTables?: readonly string[];
  /** False waits until another process has run the migrations; true when left out. */
  mayMigrate?: boolean;
  statementTimeoutMs?: number;
  /** False makes the planner use an index wherever there is one; true when left out. */
  sequentialScans?: boolean;
  /** How long a statement waits for a lock; as long as the statement may run when left out. */
  lockTimeoutMs?: number;
  /** True when the process shuts down, and waits for an unavailable PostgreSQL no longer. */
  isStopping?: () => boolean;
}

export interface Database {
  /** For statements that run rarely. */
  dataSource: DataSource;
  /**
   * TypeORM's pool, for the statements of `defineStatement`. It acts as the owner of the tables, so it is
   * for the service's own work; queries of requests run in `requests`.
   */
  pool: pg.Pool;
  /** The same connections for the queries of requests, which act as the request role. */
  requests: RequestPool;
  /** The turns that `requests` takes, for a write of the service's own that may wait for a row. */
  rowTurns: RowTurns;
  /**
   * RESERVED_CONNECTIONS further connections, for what must go on while all of `pool` are in use: the
   * heartbeat, and the relay with its leases. No query here may wait for a lock.
   */
  reserved: pg.Pool;
  /** True, or the reason why the database cannot be used at present. */
  ready(): true | string;
  close(): Promise<void>;
}

/** How long a query waits for a connection, and a write for its turn at a row. */
const CONNECT_TIMEOUT_MS = 5_000;
/** For the heartbeat, the relay's leases, the relay's rounds, and what the relay does beside them, some of it rarely. */
const RESERVED_CONNECTIONS = 3;
/**
 * The relay reads a queue whose rows come and go: while it looks empty to the planner, a plan that reads it from end to end,
 * or sorts it, seems as good, and is kept for the next backlog. Measured 20,000 events later: 44 ms for a read that takes 3.
 */
const READ_BY_INDEX = '-c enable_seqscan=off -c enable_bitmapscan=off -c enable_sort=off';
const RETRY_MS = 250;
/** Longer than the pauses between bursts: a new connection costs some 50 ms of CPU until its statements are planned. */
const IDLE_TIMEOUT_MS = 60_000;
/** The first attempt and every 120th attempt are logged, so entries are at least 30 seconds apart. */
const ATTEMPTS_PER_LOG_ENTRY = 120;

/**
 * Waits for PostgreSQL, migrates the database and opens it. Throws `DatabaseNewerError`, `RequestRoleError`,
 * or the error of PostgreSQL when it refuses the connection or is not available before `isStopping`.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { name, log, statementTimeoutMs = 5_000 } = options;
  const url = typeof options.url === 'function' ? options.url : () => options.url as string;
  const requestRole = await retryWhileUnavailable(options, async () => {
    const role = await requireRequestRole(url());
    await migrate(url(), options.migrations, log, options.mayMigrate);
    await handOverTables(url(), options.keptTables ?? [], log);
    return role;
  });

  let isClosing = false;
  // Without a handler, an idle connection that is lost would end the process. The pool replaces it. While the pools
  // close, PostgreSQL may stop before it has read that a connection ends.
  const onConnectionLost = (err: unknown) => {
    if (!isClosing) log.warn({ err }, 'idle database connection lost');
  };
  const connections = {
    ...connectionOptions(statementTimeoutMs, options),
    Client: clientOf(url),
  };
  const dataSource = new DataSource({
    type: 'postgres',
    url: url(),
    poolSize: options.poolSize,
    applicationName: name,
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    installExtensions: false,
    logger: typeormLog(log),
    entities: options.entities,
    poolErrorHandler: onConnectionLost,
    // The first request after a quiet time has a connection.
    extra: { ...connections, min: 1 },
  });
  await dataSource.initialize();
  const pool = poolOf(dataSource);
  const reserved = new pg.Pool({
    ...connections,
    options: `${connections.options} ${READ_BY_INDEX}`,
    connectionString: url(),
    max: RESERVED_CONNECTIONS,
    // Its end tells the heartbeat that the database went away, and the relay's polls need no new connection.
    min: 1,
    application_name: name,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  reserved.on('error', onConnectionLost);
  // A new connection may be lost in the read that also completes it, before its caller listens. Then its query fails.
  for (const each of [pool, reserved]) {
    each.on('connect', (client) => client.on('error', () => undefined));
  }
  const rowTurns = new RowTurns({ connections: options.poolSize, waitMs: CONNECT_TIMEOUT_MS });
  measure(pool, rowTurns, name, options.metrics);
  const heartbeat = startHeartbeat({ pool: reserved, otherPool: pool, log });
  return {
    dataSource,
    pool,
    requests: new RequestPool(pool, requestRole, rowTurns),
    rowTurns,
    reserved,
    ready: heartbeat.ready,
    async close() {
      isClosing = true;
      await heartbeat.close();
      await reserved.end();
      await dataSource.destroy();
    },
  };
}

/** The class of both pools' clients, each of which connects to the URL of the moment. */
function clientOf(url: () => string): new () => pg.Client {
  return class extends VerifyingClient {
    // The pool gives its options, which the type of its option `Client` does not say.
    constructor(config?: pg.ClientConfig) {
      super({ ...config, connectionString: url() });
    }
  };
}

/** What both pools' connections have in common. */
function connectionOptions(
  statementTimeoutMs: number,
  { lockTimeoutMs = 0, sequentialScans = true }: DatabaseOptions,
): pg.PoolConfig {
  return {
    types: VALUE_TYPES,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // Closes the connections that only a burst needed: each is a process of the server.
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    // random_page_cost is that of an SSD. It also makes the planner use the outbox's index for the
    // relay when a backlog grows faster than the planner's statistics. plan_cache_mode: a prepared
    // statement is planned once; PostgreSQL would plan statements with array parameters each time.
    // search_path: a schema with the role's name would come first otherwise, and its tables hide those of the service.
    options:
      '-c search_path=public -c random_page_cost=1.1 -c plan_cache_mode=force_generic_plan' +
      (sequentialScans ? '' : ' -c enable_seqscan=off'),
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    // Longer than the server's own limit, for a server that does not answer at all.
    query_timeout: statementTimeoutMs + CONNECT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: 2 * statementTimeoutMs,
  };
}

/** Runs `work` again while PostgreSQL is unavailable, until `isStopping`. */
async function retryWhileUnavailable<T>(
  { log, isStopping = () => false }: DatabaseOptions,
  work: () => Promise<T>,
): Promise<T> {
  for (let attempts = 0; ; attempts += 1) {
    try {
      return await work();
    } catch (err) {
      const isSettingWrong = isLoginRefused(err) || isTlsRefused(err);
      const mayPass = isDatabaseUnavailable(err) && !isSettingWrong;
      if (!mayPass || isStopping()) throw err;
      if (attempts % ATTEMPTS_PER_LOG_ENTRY === 0) log.warn({ err }, 'waiting for PostgreSQL');
      await delay(RETRY_MS);
    }
  }
}

/** The name of the request role. Throws `RequestRoleError`, or PostgreSQL's error when it is not reachable. */
async function requireRequestRole(url: string): Promise<string> {
  const client = new VerifyingClient({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  client.on('error', () => undefined); // The query under way reports it.
  await client.connect();
  try {
    return await findRequestRole(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** TypeORM's types do not include the pool of its driver. */
function poolOf(dataSource: DataSource): pg.Pool {
  const { master } = dataSource.driver as unknown as { master?: pg.Pool };
  if (!(master instanceof pg.Pool)) throw new Error('the driver of TypeORM has no pg.Pool');
  return master;
}

function measure(pool: pg.Pool, rowTurns: RowTurns, database: string, metrics: Metrics): void {
  metrics.gauge(
    'database_pool_size',
    'The largest number of connections.',
    ['database'],
    (gauge) => {
      gauge.set({ database }, pool.options.max);
    },
  );
  metrics.gauge(
    'database_connections',
    'Connections of the pool by state; "waiting" counts the callers that wait for a connection, "waiting_for_row" the writes that wait for other writes of the same row.',
    ['database', 'state'],
    (gauge) => {
      gauge.set({ database, state: 'idle' }, pool.idleCount);
      gauge.set({ database, state: 'busy' }, pool.totalCount - pool.idleCount);
      gauge.set({ database, state: 'waiting' }, pool.waitingCount);
      gauge.set({ database, state: 'waiting_for_row' }, rowTurns.waiting);
    },
  );
}

/** Starts a service from its manifest, in a process of its own or beside others. */
import type { EventBus } from '@creditlane/events/bus';
import type { Database } from '@creditlane/postgres/database';
import { translateDatabaseErrors } from '@creditlane/postgres/database-fault';
import type { Endpoint } from '@creditlane/rpc/endpoint';
import type { TokenSigner } from '@creditlane/rpc/identity';
import type { Process } from '@creditlane/runtime/run';
import { observeSettings } from '@creditlane/runtime/setting';
import type { AnyService, ServiceDeclaration, StartedService } from './define-service.ts';
import type { DatabaseSettings } from './settings.ts';

/** The values of `localSettings`. */
interface LocalValues {
  database: DatabaseSettings | undefined;
  own: object;
}

/** The parts that the caller has for a service. The service gets those that its manifest declares. */
export interface ServiceDeps {
  process: Process;
  bus?: EventBus | undefined;
  endpoints?: Readonly<Record<string, Endpoint>> | undefined;
  signer?: TokenSigner | undefined;
  isAlone?: boolean | undefined;
}

/**
 * Migrates and opens the service's database, and starts the service. The process's closers close both. A
 * handler that fails because the database is unavailable or busy answers with the fault `unavailable`.
 * Throws an Error when a called service has no endpoint, and the errors of `openDatabase` and of the
 * start function.
 */
export async function startService<S extends AnyService>(
  service: S,
  { database, own: settings }: LocalValues,
  { process, bus, endpoints = {}, signer, isAlone = false }: ServiceDeps,
): Promise<Awaited<ReturnType<S['start']>>> {
  const { name, calls = [] } = service;
  const peers = calls.map((peer) => {
    const endpoint = endpoints[peer];
    if (endpoint === undefined) throw new Error(`${name} calls ${peer}, which has no endpoint`);
    return [peer, endpoint] as const;
  });
  observeSettings(service.settings, { ...settings }, process.metrics);
  const context = {
    settings,
    process,
    ...(database !== undefined && {
      database: await openServiceDatabase(service, database, process),
    }),
    bus,
    endpoints: Object.fromEntries(peers),
    signer,
    isAlone,
  };
  // The context has the parts of the declaration; the type of a manifest of any service does not show that.
  const started: StartedService = await service.start(context as never);
  const { routes } = started;
  const isGuarded = database !== undefined && routes !== undefined;
  const guarded = isGuarded ? { ...started, routes: translateDatabaseErrors(routes) } : started;
  return guarded as Awaited<ReturnType<S['start']>>;
}

/** Migrates and opens the service's database, which the process's closers close. */
export async function openServiceDatabase(
  { name, database: declared }: ServiceDeclaration,
  settings: DatabaseSettings,
  { log, metrics, closers, health }: Process,
): Promise<Database> {
  const { entities = [], migrations = [] } = declared ?? {};
  // Loaded here, so that a service without a database does not load TypeORM.
  const { openDatabase } = await import('@creditlane/postgres/database');
  const database = await openDatabase({
    ...settings,
    name,
    log,
    metrics,
    ...(declared?.sequentialScans !== undefined && { sequentialScans: declared.sequentialScans }),
    entities: [...entities],
    migrations: [...migrations],
    keptTables: declared?.keptTables ?? [],
    isStopping: () => health.isDraining,
  });
  closers.add(`${name} database`, () => database.close());
  health.add(`${name} database`, () => database.ready());
  return database;
}

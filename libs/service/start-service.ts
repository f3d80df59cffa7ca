/** Starts a service from its manifest, in a process of its own or beside others. */
import type { EventBus } from '@creditlane/events/bus';
import { type Database, openDatabase } from '@creditlane/postgres/database';
import type { Endpoint } from '@creditlane/rpc/endpoint';
import type { TokenSigner } from '@creditlane/rpc/identity';
import type { Process } from '@creditlane/runtime/run';
import type { AnyService } from './define-service.ts';
import type { DatabaseSettings } from './settings.ts';

/** The values of `localSettings`. */
interface LocalValues {
  database: DatabaseSettings | undefined;
  own: object;
}

/** What the runner has for a service; a manifest that declares no need of a part gets none. */
export interface ServiceDeps {
  process: Process;
  bus?: EventBus | undefined;
  endpoints?: Readonly<Record<string, Endpoint>> | undefined;
  signer?: TokenSigner | undefined;
}

/**
 * Migrates and opens the service's database, and starts the service. Both end with the process's
 * closers. Throws an Error where a peer has no endpoint, and what `openDatabase` throws.
 */
export async function startService<S extends AnyService>(
  service: S,
  { database, own: settings }: LocalValues,
  { process, bus, endpoints = {}, signer }: ServiceDeps,
): Promise<Awaited<ReturnType<S['start']>>> {
  const { name, calls = [] } = service;
  const peers = calls.map((peer) => {
    const endpoint = endpoints[peer];
    if (endpoint === undefined) throw new Error(`${name} calls ${peer}, which has no endpoint`);
    return [peer, endpoint] as const;
  });
  const context = {
    settings,
    process,
    ...(database !== undefined && { database: await openOwn(service, database, process) }),
    bus,
    endpoints: Object.fromEntries(peers),
    signer,
  };
  // Made from the same declaration as the context's type, which is lost for a manifest of any service.
  return (await service.start(context as never)) as Awaited<ReturnType<S['start']>>;
}

async function openOwn(
  { name, database: declared }: AnyService,
  settings: DatabaseSettings,
  { log, metrics, closers, health }: Process,
): Promise<Database> {
  const { entities = [], migrations = [] } = declared ?? {};
  const database = await openDatabase({
    ...settings,
    name,
    log,
    metrics,
    entities: [...entities],
    migrations: [...migrations],
  });
  closers.add(`${name} database`, () => database.close());
  health.add(`${name} database`, () => database.ready());
  return database;
}

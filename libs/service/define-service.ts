/** The manifest of a service: what it is, keeps, publishes, consumes and calls, its settings, its start. */
import type { EventBus } from '@creditlane/events/bus';
import type { Topic } from '@creditlane/events/topics';
import type { Database, DatabaseOptions } from '@creditlane/postgres/database';
import type { Endpoint } from '@creditlane/rpc/endpoint';
import type { TokenSigner } from '@creditlane/rpc/identity';
import type { ServiceRoutes } from '@creditlane/rpc/service';
import type { Process } from '@creditlane/runtime/run';
import type { Settings, SettingValues } from '@creditlane/runtime/setting';

/** A service's own database; the runner migrates and opens it before the service starts. */
export interface DatabaseDeclaration {
  /** The name of the database and of the role that owns it. */
  readonly name: string;
  readonly entities: Readonly<DatabaseOptions['entities']>;
  readonly migrations: Readonly<DatabaseOptions['migrations']>;
  /** Of the connections at most: the default and the least; 10 and 2 when left out. */
  readonly poolSize?: { readonly default: number; readonly min: number };
  /** Whether LOCK_TIMEOUT limits how long a statement waits for a row that another one holds. */
  readonly lockTimeout?: boolean;
}

/** All that a manifest says besides how the service starts. What is left out the service does not do. */
export interface ServiceDeclaration {
  /** Its folder, its name in tokens and logs, and the group by which it consumes events. */
  readonly name: string;
  /** One line: what the service owns. */
  readonly about: string;
  /** `calls` of other services, by the contract in proto/, or `http` for callers from outside. */
  readonly serves: 'calls' | 'http';
  readonly database?: DatabaseDeclaration;
  readonly publishes?: readonly Topic[];
  readonly consumes?: readonly Topic[];
  /** The names of the services that it calls. */
  readonly calls?: readonly string[];
  /** Those that only this service has; see `processSettings` for the others. */
  readonly settings: Settings;
}

/** What a service is started with: as much as its declaration asks for. */
export type ServiceContext<D extends ServiceDeclaration> = {
  readonly settings: SettingValues<D['settings']>;
  /** The service's log, metrics, closers and health; the service ends with the closers. */
  readonly process: Process;
} & (D extends { database: object } ? { readonly database: Database } : unknown) &
  (D extends { publishes: object } | { consumes: object } ? { readonly bus: EventBus } : unknown) &
  (D extends { calls: readonly (infer Peer extends string)[] }
    ? {
        readonly endpoints: Readonly<Record<Peer, Endpoint>>;
        /** Signs the service's own calls. */
        readonly signer: TokenSigner;
      }
    : unknown);

/** What a started service gives its runner. */
export interface StartedService {
  /** What is to be mounted, where the service serves calls. */
  routes?: ServiceRoutes[];
  /** Where the service listens, where it serves HTTP. */
  url?: string;
  /** Resolves once the service has done what the events written or handled so far ask for. */
  settled?(): Promise<void>;
}

/** A manifest: a declaration, and the function that starts the service. */
export type Service<
  D extends ServiceDeclaration = ServiceDeclaration,
  S extends StartedService = StartedService,
> = D & { start(context: ServiceContext<D>): Promise<S> };

/** Any manifest, as the runners know it: they build the context that its declaration asks for. */
export type AnyService = ServiceDeclaration & { start(context: never): Promise<StartedService> };

/**
 * Declares a service. Apart from `defineService`, so that the file with the start function can take
 * the type of its context from here.
 */
export function declareService<const D extends ServiceDeclaration>(declaration: D): D {
  return declaration;
}

/** The manifest of a declared service. */
export function defineService<D extends ServiceDeclaration, S extends StartedService>(
  declaration: D,
  start: (context: ServiceContext<D>) => Promise<S>,
): Service<D, S> {
  return { ...declaration, start };
}

/** Service manifests: name, database, topics, called services, settings and start function of a service. */
import type { EventBus } from '@creditlane/events/bus';
import type { Topic } from '@creditlane/events/topics';
import type { Database, DatabaseOptions } from '@creditlane/postgres/database';
import type { Endpoint } from '@creditlane/rpc/endpoint';
import type { TokenSigner } from '@creditlane/rpc/identity';
import type { ServiceRoutes } from '@creditlane/rpc/service';
import type { Process } from '@creditlane/runtime/run';
import type { Settings, SettingValues } from '@creditlane/runtime/setting';

/** A service's own database, which is migrated and opened before the service starts. */
export interface DatabaseDeclaration {
  /** The name of the database and of the role that owns it. */
  readonly name: string;
  readonly entities: Readonly<DatabaseOptions['entities']>;
  readonly migrations: Readonly<DatabaseOptions['migrations']>;
  /** The tables that the service fills and may not change, such as an audit log; they belong to the keeper of the database. */
  readonly keptTables?: readonly string[];
  /** Default and minimum of DATABASE_POOL_SIZE, the maximum of connections; 10 and 2 when left out. */
  readonly poolSize?: { readonly default: number; readonly min: number };
  /**
   * False makes the planner use an index wherever there is one, for tables that are small when a statement is planned and
   * large when it runs; true when left out.
   */
  readonly sequentialScans?: boolean;
  /** Whether the service has the setting LOCK_TIMEOUT: how long a statement waits for a locked row. */
  readonly lockTimeout?: boolean;
}

/** A manifest without its start function. A service has no database, topics or calls that it does not declare. */
export interface ServiceDeclaration {
  /** The service's name: its folder, its name in tokens and logs, and its consumer group. */
  readonly name: string;
  /** One line: what the service owns. */
  readonly about: string;
  /** `calls` of other services, by the contract in proto/, or `http` for callers from outside. */
  readonly serves: 'calls' | 'http';
  readonly database?: DatabaseDeclaration;
  readonly publishes?: readonly Topic[];
  readonly consumes?: readonly Topic[];
  /** The names of the services that this service calls. */
  readonly calls?: readonly string[];
  /** The addresses of called services in a configuration of an earlier version, which has none for them. */
  readonly defaultAddresses?: Readonly<Record<string, string>>;
  /** The setting with the ports of the public addresses that the service connects to; a service without it reaches none. */
  readonly egressPorts?: string;
  /** The settings that only this service has. `processSettings` adds the settings of its declared parts. */
  readonly settings: Settings;
}

/** The argument of every start function. */
export interface ServiceContext<S extends Settings = Record<never, never>> {
  readonly settings: SettingValues<S>;
  /** The service's log, metrics, closers and health; the service ends with the closers. */
  readonly process: Process;
  /** Whether no other process can use the service's database meanwhile, of this version or another one. */
  readonly isAlone?: boolean;
}

/** What a declaration with `database` adds to the argument: the migrated database. */
export interface WithDatabase {
  readonly database: Database;
}

/** What a declaration with `publishes` or `consumes` adds. */
export interface WithBus {
  readonly bus: EventBus;
}

/** What a declaration with `calls` adds. */
export interface WithCalls<Peer extends string> {
  readonly endpoints: Readonly<Record<Peer, Endpoint>>;
  /** Signs the service's own calls. */
  readonly signer: TokenSigner;
}

/** The argument of the start function of a declared service. */
export type ContextOf<D extends ServiceDeclaration> = ServiceContext<D['settings']> &
  (D extends { database: object } ? WithDatabase : unknown) &
  (D extends { publishes: object } | { consumes: object } ? WithBus : unknown) &
  (D extends { calls: readonly (infer Peer extends string)[] } ? WithCalls<Peer> : unknown);

/** The result of the start function. */
export interface StartedService {
  /** The methods and their handlers; set by a service that serves calls. */
  routes?: ServiceRoutes[];
  /** The base URL; set by a service that serves HTTP. */
  url?: string;
  /** Resolves once the service has no work left from the events that were written or handled so far. */
  settled?(): Promise<void>;
}

/** A manifest: a declaration, and the function that starts the service. */
export type Service<
  D extends ServiceDeclaration = ServiceDeclaration,
  S extends StartedService = StartedService,
> = D & { start(context: ContextOf<D>): Promise<S> };

/** The manifest of any service, for code that starts services from a list. */
export type AnyService = ServiceDeclaration & { start(context: never): Promise<StartedService> };

/** The manifest of a service; `start` may take no part that the declaration does not name. */
export function defineService<const D extends ServiceDeclaration, S extends StartedService>(
  declaration: D,
  start: (context: ContextOf<D>) => Promise<S>,
): Service<D, S> {
  return { ...declaration, start };
}

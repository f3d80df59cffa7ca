/** The settings of a service: its own, and those of the database, calls and topics that its manifest declares. */
import { KAFKA } from '@creditlane/events/kafka-config';
import { databaseUrl } from '@creditlane/postgres/connection/database-url';
import { clientSettings } from '@creditlane/rpc/client-settings';
import { HOST, SERVER_SETTINGS } from '@creditlane/rpc/serve';
import { PROCESS } from '@creditlane/runtime/run';
import { type Setting, setting, type Variable, variablesOf } from '@creditlane/runtime/setting';
import type { DatabaseDeclaration, ServiceDeclaration } from './define-service.ts';

const POOL_SIZE = { default: 10, min: 2 };

/** The values of a database's settings. */
export interface DatabaseSettings {
  url: () => string;
  /** The maximum of connections. */
  poolSize: number;
  /** False waits until another process has run the migrations. */
  mayMigrate: boolean;
  lockTimeoutMs?: number;
  statementTimeoutMs?: number;
}

/** The settings that a service has in one process and in its own process: its database's and its own. */
export function localSettings<D extends ServiceDeclaration>({ database, settings }: D) {
  return {
    database: database === undefined ? NOTHING : databaseSetting(database),
    own: setting.all<D['settings']>(settings),
  };
}

/** The settings of a service that runs as a process of its own. */
export function processSettings(service: ServiceDeclaration) {
  const { name, serves, calls, defaultAddresses, publishes, consumes } = service;
  return {
    ...localSettings(service),
    server: serves === 'calls' ? SERVER_SETTINGS : NOTHING,
    ops: OPS,
    client: calls === undefined ? NOTHING : clientSettings(name, calls, defaultAddresses),
    kafka: publishes === undefined && consumes === undefined ? NOTHING : KAFKA,
  };
}

/** Every variable that a service's own process reads. */
export function processVariables(service: ServiceDeclaration): Variable[] {
  return variablesOf({ ...processSettings(service), ...PROCESS });
}

/** The settings of every process: the address to listen on, and the port of probes and metrics. */
export const OPS = setting.all({
  host: HOST,
  port: setting.port('OPS_PORT', { default: 9090, about: 'The port of probes and metrics.' }),
});

const NOTHING: Setting<undefined> = { variables: [], read: () => undefined };

const DATABASE_URL = databaseUrl(
  'DATABASE_URL',
  "The service's own database, with the user of its owner, and the password unless DATABASE_PASSWORD has it. With `?sslmode=verify-full` connections are encrypted, and the server's certificate and the name in it are checked, by the authorities in the PEM file `sslrootcert` or those of Node; `require` and `verify-ca` do the same. Without it the database is on this machine, or ALLOW_PLAINTEXT is set. New connections use what DATABASE_URL_FILE holds then.",
);

const DATABASE_PASSWORD = setting.renewed('DATABASE_PASSWORD', (text) => text, {
  type: 'text',
  default: '',
  secret: true,
  about:
    'The password for DATABASE_URL. New connections use what DATABASE_PASSWORD_FILE holds then.',
});

/** The URL with the current password. */
const urlWithPassword: Setting<() => string> = {
  variables: [...DATABASE_URL.variables, ...DATABASE_PASSWORD.variables],
  read(env) {
    const currentUrl = DATABASE_URL.read(env);
    const currentPassword = DATABASE_PASSWORD.read(env);
    return () => {
      const password = currentPassword();
      if (password === '') return currentUrl();
      const url = new URL(currentUrl());
      url.password = encodeURIComponent(password);
      return url.href;
    };
  },
};

function databaseSetting({
  poolSize,
  lockTimeout,
}: DatabaseDeclaration): Setting<DatabaseSettings> {
  return setting.all({
    url: urlWithPassword,
    poolSize: setting.integer('DATABASE_POOL_SIZE', {
      ...(poolSize ?? POOL_SIZE),
      max: 200,
      about:
        'The maximum of connections to the database for calls and events. The heartbeat and the publishing of events have four more.',
    }),
    mayMigrate: setting.boolean('MIGRATE_AT_START', {
      default: true,
      about:
        'Whether the service migrates its database when it starts. Otherwise it is not ready until `--migrate` has run.',
    }),
    ...(lockTimeout && {
      lockTimeoutMs: setting.durationMs('LOCK_TIMEOUT', {
        default: '2s',
        min: '1ms',
        max: '4s',
        about: 'How long a write waits for another write of the same row.',
      }),
    }),
  });
}

// The command lines of `npm run up`, `npm run down` and `npm run operate`.
import {
  dataDirOf,
  OPTIONS,
  type Options,
  optionsOf,
  parseOptions,
  UsageError,
} from '@creditlane/local/options';
import { DATABASES, SERVICES } from '@creditlane/platform/services';
import type { Replicas } from './instances.ts';

export interface UpOptions extends Options {
  brokers: 1 | 3;
  replicas: Replicas;
}

const DATA_DIR = '.local-processes';

/**
 * Within this time everything has stopped: the services one after another and the replicas of each together, which are killed
 * after eight seconds; then PostgreSQL, killed after twenty, of which `Closers.extraMs` adds those beyond the ten of a usual closer;
 * then the brokers of Kafka, killed after three.
 */
export const CLOSE_WITHIN_MS = 150_000;

export const UP_HELP = `Creditlane on this machine: each service a process of its own, on PostgreSQL and Kafka, with demo data.

  npm run up -- [options]

  --port N          the API's port (default 3000); N+1 serves the gateway's health and metrics, N+2
                    the inbox, N+3 the bureau simulator, the next ones the other services; 0 takes
                    any free ones
  --data-dir PATH   where databases, events and keys live (default ${DATA_DIR})
  --reset           delete Creditlane's files in the data directory first, and no others
  --brokers 1|3     how many brokers Kafka has (default 1)
  --replicas S=N    N processes of service S, as in decisions=3; may be given for several services
  --help            this text

LOG_LEVEL=debug shows every call. KAFKA_BROKERS=host:port uses a cluster that is running already.
npm run operate -- --help says how an operator's command runs beside it.
`;

export const DOWN_HELP = `Stops what "npm run up" started, from wherever it was started.

  npm run down -- [options]

  --data-dir PATH   the data directory it runs on (default ${DATA_DIR})
  --help            this text
`;

export const OPERATE_HELP = `Runs an operator's command of a service on the databases of a running platform.

  npm run --silent operate -- [options] SERVICE --COMMAND [its options]

  --data-dir PATH   the data directory of the platform (default ${DATA_DIR}); that of npm start is .local
  --help            this text

SERVICE is ${Object.keys(DATABASES).join(', ')}.
Commands are those of docs/operations, such as webhook-dispatcher --dead-letters. With an unknown one,
such as --commands, the service lists its own. Paths begin at this repository.
`;

/** Reads the command line of `npm run up`. Throws `UsageError`. */
export function readUpOptions(argv: string[]): UpOptions {
  const values = parseOptions(argv, {
    ...OPTIONS,
    brokers: { type: 'string' },
    replicas: { type: 'string', multiple: true },
  });
  return {
    ...optionsOf(values, DATA_DIR),
    brokers: readBrokers(values.brokers ?? '1'),
    replicas: Object.fromEntries((values.replicas ?? []).map(readReplicas)),
  };
}

/** Reads the command line of `npm run down`. Throws `UsageError`. */
export function readDownOptions(argv: string[]): { dataDir: string } {
  const values = parseOptions(argv, { 'data-dir': OPTIONS['data-dir'] });
  return { dataDir: dataDirOf(values, DATA_DIR) };
}

/** Reads the command line of `npm run operate`. Throws `UsageError`. */
export function readOperateOptions(argv: string[]): {
  dataDir: string;
  service: string;
  command: string[];
} {
  const services = Object.keys(DATABASES);
  const at = argv.findIndex((arg) => services.includes(arg));
  const [service, ...command] = at === -1 ? [] : argv.slice(at);
  if (service === undefined) {
    throw new UsageError(`No service is named, such as ${services.join(', ')}. See --help.`);
  }
  // Without a command, or with --check, the service itself would start, or report what only its process needs.
  if (!/^--(?!check$)./.test(command[0] ?? '')) {
    throw new UsageError(`No command of ${service} is named, such as --migrate. See --help.`);
  }
  const values = parseOptions(argv.slice(0, at), { 'data-dir': OPTIONS['data-dir'] });
  return { dataDir: dataDirOf(values, DATA_DIR), service, command };
}

function readBrokers(text: string): 1 | 3 {
  if (text === '1') return 1;
  if (text === '3') return 3;
  throw new UsageError(`--brokers: "${text}" is neither 1 nor 3.`);
}

function readReplicas(text: string): [string, number] {
  const [, service = '', count] = /^([a-z-]+)=([1-9])$/.exec(text) ?? [];
  const known = SERVICES.flatMap(({ name, serves }) => (serves === 'calls' ? [name] : []));
  if (known.some((name) => name === service)) return [service, Number(count)];
  throw new UsageError(
    `--replicas: "${text}" must be a service and a number up to 9, as in decisions=3. ` +
      `The services are ${known.join(', ')}.`,
  );
}

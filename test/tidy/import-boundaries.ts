// Which files may import or use what: the borders between packages, and the place of each library.
import { join, normalize } from 'node:path';
import { type Finding, findInLines, listPackages, type Package, readText } from './repository.ts';

/** Something that only some files may use. */
interface Boundary {
  pattern: RegExp;
  /** The paths of the files that may use it. */
  allowedIn: RegExp;
  /** What the other files have to do. */
  instead: string;
}

/** Libraries, by the name that an import gives. */
const LIBRARIES: Boundary[] = [
  {
    pattern: /^kafkajs$/,
    allowedIn: /^libs\/events\/kafka/,
    instead: 'use the bus of @creditlane/events/bus',
  },
  {
    pattern: /^typeorm$/,
    allowedIn:
      /^(libs\/(postgres|messaging)\/|services\/[^/]+\/(tables\.ts|store\/)|services\/[^/]+\/migrations\/)/,
    instead: 'keep TypeORM to tables.ts, store/ and migrations/',
  },
  {
    pattern: /^pg$/,
    allowedIn:
      /^(libs\/(postgres|messaging|idempotency|embedded-postgres)|deploy|test|bench)\/|(\/test-[^/]+|\.test|\.measured)\.ts$/,
    instead: 'use @creditlane/postgres',
  },
  {
    pattern: /^embedded-postgres$/,
    allowedIn: /^libs\/embedded-postgres\//,
    instead: 'use @creditlane/embedded-postgres/embedded-postgres',
  },
  {
    pattern: /^(koa|@koa\/.*)$/,
    allowedIn: /^services\/gateway\//,
    instead: 'only the gateway speaks HTTP to callers',
  },
  {
    pattern: /^(@grpc\/.*|@connectrpc\/.*)$/,
    allowedIn: /^libs\/rpc\//,
    instead: 'use @creditlane/rpc/service and @creditlane/rpc/client',
  },
  { pattern: /^jose$/, allowedIn: /^libs\/rpc\//, instead: 'use @creditlane/rpc/identity' },
  {
    pattern: /^undici$/,
    allowedIn:
      /^(test|bench|services\/credit-file\/bureaus\/transport)\/|(\/test-[^/]+|\.test|\.measured)\.ts$/,
    instead: 'only the dispatcher and the bureau client call addresses that users configured',
  },
  {
    pattern: /^(pino|prom-client)$/,
    allowedIn: /^libs\/runtime\//,
    instead: 'use @creditlane/runtime/telemetry/log and @creditlane/runtime/telemetry/metrics',
  },
  {
    pattern: /^@opentelemetry\//,
    allowedIn: /^libs\/runtime\/telemetry\/tracing\.ts$/,
    instead: 'use @creditlane/runtime/telemetry/tracing',
  },
];

/** Globals of Node. The code samples of the documentation are texts with programs of their readers. */
const GLOBALS: Boundary[] = [
  {
    pattern: /\bprocess\.env\b|from 'node:process'/,
    allowedIn:
      /^(libs\/runtime\/(run|env)\.ts|bootstrap\.mjs|tasks\/|test\/|services\/gateway\/document\/published\/code-samples\.)/,
    instead: 'declare it in service.ts by @creditlane/runtime/setting',
  },
  {
    pattern: /\bconsole\.\w+\(/,
    allowedIn: /^(tasks\/|test\/|services\/gateway\/document\/published\/code-samples\.)/,
    instead: 'log through @creditlane/runtime/telemetry/log',
  },
];

/** Packages that start servers for development and tests: no service may need them in production. */
const LAUNCHERS = [
  '@creditlane/embedded-postgres',
  '@creditlane/embedded-kafka',
  '@creditlane/supervision',
  '@creditlane/bureau-simulator',
];
const IS_PRODUCTION_PACKAGE = /^(services\/(?!bureau-simulator$)|libs\/(?!embedded-|supervision$))/;

const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*['"]([^'"]+)['"]/;
const COMMENT = /^\s*(\/\/|\*|\/\*)/;
const TEST_FILE = /(\.test|\.measured|\/test-[^/]+)\.\w+$/;

const IS_IN_IMAGE = /^(libs|proto|services\/(?!bureau-simulator\/))/;
const SHARED_BY_TESTS = /\/test-[^/]+$/;

/** Every use of a library, global or package in a file that must not use it. */
export function findForbiddenUses(sourceFiles: string[]): Finding[] {
  const packages = listPackages();
  return findInLines(sourceFiles, (line, file) => {
    if (COMMENT.test(line)) return undefined;
    const global = GLOBALS.find((it) => it.pattern.test(line) && !it.allowedIn.test(file));
    if (global) return `${line.trim()}: ${global.instead}`;
    const imported = IMPORT.exec(line)?.[1];
    if (imported === undefined) return undefined;
    const reason = imported.startsWith('.')
      ? checkRelativeImport(file, imported, packages)
      : checkPackageImport(file, imported, packages);
    if (IS_IN_IMAGE.test(file) && !TEST_FILE.test(file) && SHARED_BY_TESTS.test(imported)) {
      return `imports ${imported}: deploy/Dockerfile.dockerignore leaves files named test-* out of the image`;
    }
    return reason && `imports ${imported}: ${reason}`;
  });
}

/** Files that the client's build takes into the published package, which may name no other package of the workspace. */
const BUILT_INTO_CLIENT = ['libs/runtime/http/retry-after.ts'];

/** Why a relative import is wrong: it names a file of another package. */
function checkRelativeImport(
  file: string,
  imported: string,
  packages: Package[],
): string | undefined {
  const own = packages.find(({ folder }) => file.startsWith(`${folder}/`))?.folder;
  const importedFile = normalize(join(file, '..', imported));
  if (own === undefined || importedFile.startsWith(`${own}/`)) return undefined;
  if (BUILT_INTO_CLIENT.includes(importedFile) && own === 'libs/client') return undefined;
  return 'import files of other packages by the package name, @creditlane/…';
}

/** Why an import by name is wrong: the library or package is not for this file. */
function checkPackageImport(
  file: string,
  imported: string,
  packages: Package[],
): string | undefined {
  const library = LIBRARIES.find((it) => it.pattern.test(imported) && !it.allowedIn.test(file));
  if (library) return library.instead;
  const name = packageNameOf(imported);
  const { folder = '' } = packages.find((it) => it.name === name) ?? {};
  const mayImportAll = /^(deploy|test|bench)\//.test(file);
  if (LAUNCHERS.includes(name ?? '') && TEST_FILE.test(file)) return undefined;
  if (folder.startsWith('services/') && !mayImportAll) {
    return 'only deploy, test and bench import services; call a service through its contract';
  }
  if (/^deploy\/(local|platform)$/.test(folder) && !mayImportAll) {
    return 'only deploy, test and bench import the local platform';
  }
  return undefined;
}

/** Packages whose production code imports itself through other packages, with the way around. */
export function findPackageCycles(sourceFiles: string[]): Finding[] {
  const imports = importsByPackage(sourceFiles);
  return [...imports.keys()].flatMap((name) => {
    const path = findPath(name, name, imports);
    return path ? [`${path.join(' imports ')}: move what both need into one of them`] : [];
  });
}

/**
 * Services and libraries that need a launcher of servers in production: by an import of their code,
 * with the packages in between, or by `dependencies` in package.json.
 */
export function findLaunchersInProduction(sourceFiles: string[]): Finding[] {
  const imports = importsByPackage(sourceFiles);
  const checked = listPackages().filter(({ folder }) => IS_PRODUCTION_PACKAGE.test(folder));
  return checked.flatMap(({ folder, name, dependencies }) =>
    LAUNCHERS.flatMap((launcher) => {
      const path = findPath(name, launcher, imports);
      if (path) return [`${path.join(' imports ')}: production code may not need a launcher`];
      if (!(launcher in dependencies)) return [];
      return [`${folder}/package.json:1 ${launcher}: only tests need it, so devDependencies`];
    }),
  );
}

type ImportsByPackage = Map<string, Set<string>>;

/** The packages of the workspace that each package's production code imports. */
function importsByPackage(sourceFiles: string[]): ImportsByPackage {
  return new Map(
    listPackages().map(({ folder, name }) => {
      const files = sourceFiles.filter((it) => it.startsWith(`${folder}/`) && !TEST_FILE.test(it));
      const matches = files.flatMap((file) => [
        ...readText(file).matchAll(new RegExp(IMPORT, 'g')),
      ]);
      const names = matches.flatMap(([, imported = '']) => packageNameOf(imported) ?? []);
      return [name, new Set(names.filter((it) => it !== name))];
    }),
  );
}

/** The shortest way along imports between two packages, both included; at least one import long. */
function findPath(from: string, to: string, imports: ImportsByPackage): string[] | undefined {
  const visited = new Set<string>();
  const paths = [[from]];
  for (const path of paths) {
    for (const next of imports.get(path.at(-1) ?? '') ?? []) {
      if (next === to) return [...path, next];
      if (visited.has(next)) continue;
      visited.add(next);
      paths.push([...path, next]);
    }
  }
  return undefined;
}

/** The package of the workspace that an import names; undefined for any other import. */
function packageNameOf(imported: string): string | undefined {
  return /^@creditlane\/[^/]+/.exec(imported)?.[0];
}

// The exports of each package: exactly the modules that other packages import.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Finding, listPackages, type Package, ROOT, readText } from './repository.ts';

/** The contracts export patterns, because their modules are generated. */
const GENERATED = '@creditlane/proto';
/** The condition under which a published package exports its source instead of what `npm pack` builds. */
const SOURCE = '@creditlane/source';

interface Manifest {
  exports?: Record<string, string | { [SOURCE]: string }>;
  /** Missing in a package that is published: users outside this repository import its modules. */
  private?: boolean;
}

const PACKAGE_IMPORT =
  /(?:\bfrom|\bimport|\bvi\.mock)\s*\(?\s*['"](@creditlane\/[^/'"]+)\/([^'"]+)['"]/g;

/**
 * Compares the `exports` of every package.json with the imports of all source files. A module that is
 * not exported is private to its package, so an export that no other package uses is an error, too,
 * except in a package that is published.
 */
export function findWrongExports(sourceFiles: string[]): Finding[] {
  const packages = listPackages();
  const imported = findImportsAcrossPackages(sourceFiles, packages);
  return packages
    .filter(({ name }) => name !== GENERATED)
    .flatMap(({ folder, name }) => {
      const file = `${folder}/package.json`;
      const { exports, private: isPrivate }: Manifest = JSON.parse(readText(file));
      if (exports === undefined) return [`${file}:1 has no "exports": add {} or a list of modules`];
      const modules = imported.get(name) ?? new Set();
      const missing = [...modules].filter((module) => !(`./${module}` in exports));
      const unused = Object.keys(exports).filter((key) => !modules.has(key.slice('./'.length)));
      const paths = Object.values(exports).map((it) => (typeof it === 'string' ? it : it[SOURCE]));
      const broken = paths.filter((path) => !existsSync(join(ROOT, folder, path)));
      return [
        ...missing.map((module) => `${file}:1 lacks the export "./${module}", which is imported`),
        ...(isPrivate ? unused : []).map(
          (key) => `${file}:1 exports "${key}", which no other package imports`,
        ),
        ...broken.map((path) => `${file}:1 exports "${path}", which does not exist`),
      ];
    });
}

/** The modules of each package that files of other packages import. */
function findImportsAcrossPackages(
  sourceFiles: string[],
  packages: Package[],
): Map<string, Set<string>> {
  const imported = new Map<string, Set<string>>();
  for (const file of sourceFiles) {
    const own = packages.find(({ folder }) => file.startsWith(`${folder}/`))?.name;
    for (const [, name = '', module = ''] of readText(file).matchAll(PACKAGE_IMPORT)) {
      if (name === own) continue;
      imported.set(name, (imported.get(name) ?? new Set()).add(module));
    }
  }
  return imported;
}

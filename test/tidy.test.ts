// The rules of this repository that a machine can check. Each finding names a file and what to do there.
import { basename, dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  findBreakingChanges,
  findEarlierContracts,
  findOpenApiProblems,
  findStaleGeneratedCode,
  findStaleOpenApiCode,
} from './tidy/contracts.ts';
import {
  findForbiddenUses,
  findLaunchersInProduction,
  findPackageCycles,
} from './tidy/import-boundaries.ts';
import { findWrongExports } from './tidy/package-exports.ts';
import { findMissingOpeningComments, findMissingServiceFiles } from './tidy/package-files.ts';
import { findBrokenLinks } from './tidy/page-links.ts';
import { findReplacedWords, findUnclearTitles } from './tidy/plain-words.ts';
import { findStaleModelSteps } from './tidy/protocol-models.ts';
import { findInLines, listFiles, listPackages, readLines, runLinter } from './tidy/repository.ts';

const MAX_LINES = 400;
const MAX_TEST_LINES = 500;
const MAX_FILES_PER_FOLDER = 24;
const SOURCE_FILES = listFiles('.ts', '.mjs');
const TEST_FILES = listFiles('.test.ts', '.measured.ts');
const TEXT_FILES = listFiles().filter((file) => !/\.(png|ico|woff2)$/.test(file));
/** The rules themselves contain the words and patterns that they forbid. */
const isRule = (file: string) => file === 'test/tidy.test.ts' || file.startsWith('test/tidy/');

/** Words that say nothing about a file's content, as a part of its name or as the whole name. */
const EMPTY_NAME_PART = /(^|-)(utils?|helpers?|managers?|impl|misc)(-|$)/;
const EMPTY_NAME = /^(common|base|index|types?|shared|stuff)$/;
const KEBAB_CASE = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** Whether a block reported by jscpd consists of imports only: two files may import the same. */
function isWithinImports(report: string): boolean {
  const block = /^([^:]+):.* lines? \(\d+-(\d+)\) duplicated/.exec(report);
  if (block === null) return false;
  const [, file = '', lastLine] = block;
  const lastImport = readLines(file).findLastIndex((line) => /\bfrom '[^']+'/.test(line)) + 1;
  return Number(lastLine) <= lastImport;
}

describe('names and sizes', () => {
  test(`no file has more than ${MAX_LINES} lines and no test file more than ${MAX_TEST_LINES}`, () => {
    const findings = SOURCE_FILES.flatMap((file) => {
      const max = TEST_FILES.includes(file) ? MAX_TEST_LINES : MAX_LINES;
      const { length } = readLines(file);
      return length > max ? [`${file}:${max} has ${length} lines: split it by noun`] : [];
    });
    expect(findings).toEqual([]);
  });

  test('no function has more than 70 lines', () => {
    const rule = '--only=complexity/noExcessiveLinesPerFunction';
    const lines = runLinter('biome', ['lint', rule, '--reporter=github', '.']);
    // With --only, biome also reports test files as notices, where biome.json switches the rule off.
    expect(lines.filter((line) => !line.startsWith('::notice'))).toEqual([]);
  });

  test('every source file has a name in kebab-case that says what the file contains', () => {
    const parts = SOURCE_FILES.flatMap((file) => file.split('/').map((part) => ({ file, part })));
    const findings = parts.flatMap(({ file, part }) => {
      const stem = part.replace(/^\./, '').split('.')[0] ?? '';
      if (EMPTY_NAME_PART.test(stem) || EMPTY_NAME.test(stem)) {
        return [`${file}:1 "${part}" says nothing: name what the file contains`];
      }
      return KEBAB_CASE.test(stem) ? [] : [`${file}:1 "${part}" is not in kebab-case`];
    });
    expect(findings).toEqual([]);
  });

  test('no name contains a word that has been replaced by a standard term', () => {
    const files = SOURCE_FILES.filter((file) => !isRule(file));
    expect(findReplacedWords(files)).toEqual([]);
  });

  test('no test title is empty or begins with a pronoun', () => {
    expect(findUnclearTitles(TEST_FILES)).toEqual([]);
  });

  test(`no folder has more than ${MAX_FILES_PER_FOLDER} source files`, () => {
    const filesByFolder = Map.groupBy(SOURCE_FILES, (file) => dirname(file));
    const findings = [...filesByFolder]
      .filter(([, files]) => files.length > MAX_FILES_PER_FOLDER)
      .map(([folder, { length }]) => {
        return `${folder}:1 has ${length} files: make subfolders by what the files do`;
      });
    expect(findings).toEqual([]);
  });

  test('no test of `npm test` measures CPU time or memory', () => {
    const measures =
      /\bprocess\.(cpuUsage|threadCpuUsage|memoryUsage)\b|\/test-(measures|old-generation)'/;
    const findings = findInLines(listFiles('.test.ts'), (line) =>
      measures.test(line)
        ? `${line.trim()}: other tests run beside; move what is measured to a file named *.measured.ts`
        : undefined,
    );
    expect(findings).toEqual([]);
  });

  test('no comment leaves work undone', () => {
    const marks = /\b(TODO|FIXME|XXX|HACK)\b/;
    const findings = findInLines(
      SOURCE_FILES.filter((file) => !isRule(file)),
      (line) => (marks.test(line) ? `${line.trim()}: do it, or open an issue` : undefined),
    );
    expect(findings).toEqual([]);
  });
});

describe('packages and imports', () => {
  test('libraries, environment variables and services are used only where they may be', () => {
    expect(findForbiddenUses(SOURCE_FILES)).toEqual([]);
  });

  test('no package imports itself through other packages', () => {
    expect(findPackageCycles(SOURCE_FILES)).toEqual([]);
  });

  test('every package exports exactly the modules that other packages import', () => {
    expect(findWrongExports(SOURCE_FILES)).toEqual([]);
  });

  test('no service or library needs a launcher of PostgreSQL or Kafka in production', () => {
    expect(findLaunchersInProduction(SOURCE_FILES)).toEqual([]);
  });

  test('the main file of every package begins with a comment on what the package owns', () => {
    expect(findMissingOpeningComments()).toEqual([]);
  });

  test('every service has the files that all services have', () => {
    expect(findMissingServiceFiles()).toEqual([]);
  });

  test('every package takes the versions of its dependencies from the catalog', () => {
    const findings = listPackages().flatMap(({ folder, dependencies }) =>
      Object.entries(dependencies)
        .filter(([, version]) => !/^(catalog:|workspace:\*)$/.test(version))
        .map(
          ([name, version]) =>
            `${folder}/package.json:1 ${name} ${version}: move the version to pnpm-workspace.yaml`,
        ),
    );
    expect(findings).toEqual([]);
  });
});

describe('contracts', () => {
  test('the contracts follow the lint and format rules of buf', () => {
    expect(runLinter('buf', ['lint'], 'proto')).toEqual([]);
    expect(runLinter('buf', ['format', '--diff', '--exit-code'], 'proto')).toEqual([]);
  });

  test('the generated code is up to date with the contracts', () => {
    expect(findStaleGeneratedCode()).toEqual([]);
  });

  test('the gateway’s and the client’s code of the OpenAPI document is what the document generates', () => {
    expect(findStaleOpenApiCode()).toEqual([]);
  });

  test("the OpenAPI document follows Redocly's recommended rules", () => {
    expect(findOpenApiProblems()).toEqual([]);
  });

  test('the contracts do not break clients of their last version', (context) => {
    const commit = findEarlierContracts();
    if (commit === undefined) return context.skip('this clone has no earlier contracts');
    expect(findBreakingChanges(commit)).toEqual([]);
  });
});

describe('nothing superfluous', () => {
  test('no file, export or dependency is unused', () => {
    expect(runLinter('knip', ['--no-progress', '--no-config-hints'])).toEqual([]);
  }, 60_000);

  test('no block of code exists twice', () => {
    const lines = runLinter('jscpd', ['--reporters', 'xcode', '--exit-code', '1', '.']);
    // Every other line fails the test: jscpd did not compare the files.
    const isSummary = (line: string) =>
      /^Using config from|Found \d+ clones?\.|time: [\d.]+m?s/.test(line);
    expect(lines.filter((line) => !isSummary(line) && !isWithinImports(line))).toEqual([]);
  });

  test('no file names a machine, a registry or a path outside the repository', () => {
    const forbidden = [
      {
        pattern: /(?<![\w.~/-])\/(root|home|Users|work)(\/|\b(?![\w/-]))/,
        kind: 'a path of one machine',
      },
      {
        pattern: /https?:\/\/[^\s/"']*(registry|artifactory|nexus|verdaccio|mirror)/i,
        kind: 'a registry',
      },
      { pattern: /^\s*(resolution: \{.*)?tarball:|^(@[\w-]+:)?registry\s*=/, kind: 'a registry' },
    ];
    const findings = findInLines(
      TEXT_FILES.filter((file) => !isRule(file)),
      (line) => {
        const found = forbidden.find(({ pattern }) => pattern.test(line));
        return found && `${line.trim().slice(0, 80)}: names ${found.kind}; other machines lack it`;
      },
    );
    expect(findings).toEqual([]);
  });

  test('every step of the protocol’s models names a function that exists', () => {
    expect(findStaleModelSteps()).toEqual([]);
  });

  test('every link of a page leads to a file, and to a heading of it, that exist', () => {
    expect(findBrokenLinks()).toEqual([]);
  });

  test('ARCHITECTURE.md shows every package and every top-level folder', () => {
    const page = readLines('ARCHITECTURE.md').join('\n');
    const topFolders = listFiles().flatMap((file) =>
      file.includes('/') ? file.split('/')[0] : [],
    );
    const folders = new Set([...topFolders, ...listPackages().map(({ folder }) => folder)]);
    const missing = [...folders].filter((folder) => !page.includes(`${basename(folder ?? '')}/`));
    expect(missing.map((folder) => `${folder}:1 is not in the tree of ARCHITECTURE.md`)).toEqual(
      [],
    );
  });
});

// The platform rules that a machine can keep. Each finding says where, and what to do about it.
import { basename } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findBreakingChanges, findEarlierContracts, findStaleCode } from './tidy/contracts.ts';
import { findTrespasses } from './tidy/import-boundaries.ts';
import { findBlankDoors, findMissingFiles } from './tidy/package-files.ts';
import { complaintsOf, files, findInLines, linesOf, packages } from './tidy/tree.ts';

const FILE_LINES = 400;
const TEST_LINES = 500;
const SOURCE = files('.ts', '.mjs');
const TEXT = files().filter((file) => !/\.(png|ico|woff2)$/.test(file));

/** Names that say nothing, as a part of a name or as all of it. */
const EMPTY_PARTS = /(^|-)(utils?|helpers?|managers?|impl|misc)(-|$)/;
const EMPTY_NAMES = /^(common|base|index|types?|shared|stuff)$/;
const KEBAB = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** Whether a block that jscpd reports ends before the file's last import does: two files may import the same. */
function isWithinImports(complaint: string): boolean {
  const [, file = '', last = ''] = /^([^:]+):.*\(\d+-(\d+)\)/.exec(complaint) ?? [];
  const lastImport = linesOf(file).findLastIndex((line) => /\bfrom '[^']+'/.test(line)) + 1;
  return Number(last) <= lastImport;
}

describe('names and sizes', () => {
  test(`no file is longer than ${FILE_LINES} lines, no test longer than ${TEST_LINES}`, () => {
    const long = SOURCE.flatMap((file) => {
      const cap = file.endsWith('.test.ts') ? TEST_LINES : FILE_LINES;
      const { length } = linesOf(file);
      return length > cap ? [`${file}:${cap} has ${length} lines: split it by noun`] : [];
    });
    expect(long).toEqual([]);
  });

  test('no function is longer than 70 lines', () => {
    const rule = '--only=complexity/noExcessiveLinesPerFunction';
    const complaints = complaintsOf('biome', ['lint', rule, '--reporter=github', '.']);
    // Asked for one rule alone, biome mentions the tests too, where biome.json has it switched off.
    expect(complaints.filter((line) => !line.startsWith('::notice'))).toEqual([]);
  });

  test('every source file has a name in kebab-case that says what is in it', () => {
    const parts = SOURCE.flatMap((file) => file.split('/').map((part) => ({ file, part })));
    const bad = parts.flatMap(({ file, part }) => {
      const stem = part.replace(/^\./, '').split('.')[0] ?? '';
      if (EMPTY_PARTS.test(stem) || EMPTY_NAMES.test(stem)) {
        return [`${file}:1 "${part}" says nothing: name what it holds`];
      }
      return KEBAB.test(stem) ? [] : [`${file}:1 "${part}" is not in kebab-case`];
    });
    expect(bad).toEqual([]);
  });

  test('no comment leaves work behind', () => {
    const marks = /\b(TODO|FIXME|XXX|HACK)\b/;
    const left = findInLines(
      SOURCE.filter((file) => file !== 'test/tidy.test.ts'),
      (line) => (marks.test(line) ? `${line.trim()}: do it, or open an issue` : undefined),
    );
    expect(left).toEqual([]);
  });
});

describe('rooms and borders', () => {
  test('libraries, environment and services are used only in their rooms', () => {
    expect(findTrespasses(SOURCE)).toEqual([]);
  });

  test('every package says on the first line of its main file what it owns', () => {
    expect(findBlankDoors()).toEqual([]);
  });

  test('every service has the same files', () => {
    expect(findMissingFiles()).toEqual([]);
  });

  test('every package takes the versions of the catalog', () => {
    const own = packages().flatMap(({ folder, dependencies }) =>
      Object.entries(dependencies).flatMap(([name, version]) =>
        /^(catalog:|workspace:\*)$/.test(version)
          ? []
          : [
              `${folder}/package.json:1 ${name} ${version}: put it into pnpm-workspace.yaml's catalog`,
            ],
      ),
    );
    expect(own).toEqual([]);
  });
});

describe('contracts', () => {
  test('the contracts keep to the rules of buf', () => {
    expect(complaintsOf('buf', ['lint'], 'proto')).toEqual([]);
    expect(complaintsOf('buf', ['format', '--diff', '--exit-code'], 'proto')).toEqual([]);
  });

  test('the generated code is what the contracts give', () => {
    expect(findStaleCode()).toEqual([]);
  });

  test('the contracts break nobody who speaks their last version', (context) => {
    const commit = findEarlierContracts();
    if (commit === undefined) return context.skip('no earlier contracts in this clone');
    expect(findBreakingChanges(commit)).toEqual([]);
  });
});

describe('nothing too much', () => {
  test('no file, export or dependency is unused', () => {
    expect(complaintsOf('knip', ['--no-progress', '--no-config-hints'])).toEqual([]);
  });

  test('no block of code stands in two places', () => {
    const complaints = complaintsOf('jscpd', ['--reporters', 'xcode', '--exit-code', '1', '.']);
    const blocks = complaints.filter((line) => / lines? \(\d+-\d+\) duplicated/.test(line));
    expect(blocks.filter((line) => !isWithinImports(line))).toEqual([]);
  });

  test('nothing names a machine, a registry or a path outside the repository', () => {
    const strange = [
      [/(?<![\w.~/-])\/(root|home|Users|work)(\/|\b(?![\w/-]))/, 'a path of one machine'],
      [/https?:\/\/[^\s/"']*(registry|artifactory|nexus|verdaccio|mirror)/i, 'a registry'],
      [/^\s*(resolution: \{.*)?tarball:|^(@[\w-]+:)?registry\s*=/, 'a registry'],
    ] as const;
    const named = findInLines(
      TEXT.filter((file) => file !== 'test/tidy.test.ts'),
      (line) => {
        const [, what] = strange.find(([pattern]) => pattern.test(line)) ?? [];
        return what && `${line.trim().slice(0, 80)}: names ${what}, which others do not have`;
      },
    );
    expect(named).toEqual([]);
  });

  test('every room has its place in the tree of ARCHITECTURE.md', () => {
    const page = linesOf('ARCHITECTURE.md').join('\n');
    const top = files().flatMap((file) => (file.includes('/') ? [file.split('/')[0] ?? ''] : []));
    const rooms = new Set([...top, ...packages().map(({ folder }) => folder)]);
    const missing = [...rooms].filter((room) => !page.includes(`${basename(room)}/`));
    expect(missing.map((room) => `${room}:1 is not in ARCHITECTURE.md`)).toEqual([]);
  });
});

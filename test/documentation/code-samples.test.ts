// The code samples of all operations and the programs of the guides are programs of their languages.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runToExit, SILENT_SUCCESS } from '../platform/run-to-exit.ts';
import {
  codeSamples,
  guidePrograms,
  hasPython,
  type Language,
  ProgramFolder,
  ROOT,
} from './sample-programs.ts';

const programs = [...codeSamples(), ...guidePrograms()];

describe('the code of the documentation', () => {
  let folder: ProgramFolder;
  beforeAll(() => {
    folder = new ProgramFolder();
  });
  afterAll(() => folder.close());

  const write = (language: Language) =>
    programs.filter((it) => it.language === language).map((it) => folder.write(it));
  const run = (command: string, args: string[]) => runToExit(command, args, { cwd: folder.path });

  test('in TypeScript is accepted by the compiler with the types of the client', async () => {
    const files = write('typescript');
    expect(files.length).toBeGreaterThan(40);
    const compilerOptions = {
      ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
      ...{ noEmit: true, skipLibCheck: true, allowImportingTsExtensions: true },
      ...{ target: 'es2024', lib: ['es2025'], module: 'nodenext' },
      customConditions: ['@creditlane/source'],
      moduleDetection: 'force',
      typeRoots: [join(ROOT, 'node_modules/@types')],
      types: ['node'],
    };
    writeFileSync(join(folder.path, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
    const tsc = join(ROOT, 'node_modules/.bin/tsc');
    expect(await run(tsc, ['--project', '.'])).toEqual(SILENT_SUCCESS);
  });

  test('for curl is accepted by the shell', async () => {
    const files = write('shell');
    expect(files.length).toBeGreaterThan(40);
    const check = 'for file; do bash -n "$file" || exit; done';
    expect(await run('bash', ['-c', check, '', ...files])).toEqual(SILENT_SUCCESS);
  });

  test('in Python is accepted by its compiler', async (context) => {
    if (!(await hasPython())) return context.skip('python3 is not installed on this machine');
    const files = write('python');
    expect(files.length).toBeGreaterThan(40);
    expect(await run('python3', ['-m', 'py_compile', ...files])).toEqual(SILENT_SUCCESS);
  });
});

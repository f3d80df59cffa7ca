/** `npm run bench:scale -- <subject>`: runs one measurement on large tables, which is a file in scale/. */
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { runCommand } from '@creditlane/local/command';
import { UsageError } from '@creditlane/local/options';

const SUBJECTS_DIR = join(import.meta.dirname, 'scale');

/** The names of the subjects, each with the line that begins its file. */
async function listSubjects(): Promise<Map<string, string>> {
  const files = await readdir(SUBJECTS_DIR);
  const subjects = files.sort().map(async (file): Promise<[string, string]> => {
    const text = await readFile(join(SUBJECTS_DIR, file), 'utf8');
    return [basename(file, '.ts'), /^\/\*\* (.*) \*\//.exec(text)?.[1] ?? ''];
  });
  return new Map(await Promise.all(subjects));
}

const subjects = await listSubjects();
const list = [...subjects].map(([name, about]) => `  ${name.padEnd(24)}${about}\n`).join('');

const HELP = `Measures one thing on large tables, and fails when a figure is above its limit.

  npm run bench:scale -- <subject>
  npm run bench:scale -- svix <path of svix-server>

${list}`;

/** The one subject with an argument, which it reads itself. */
const WITH_ARGUMENT = 'svix';

function readSubject(argv: string[]): string {
  const [name = ''] = argv;
  const length = name === WITH_ARGUMENT ? 2 : 1;
  if (argv.length <= length && subjects.has(name)) return name;
  throw new UsageError(`Name one subject:\n${list}`);
}

await runCommand(HELP, readSubject, (name) => import(join(SUBJECTS_DIR, `${name}.ts`)));

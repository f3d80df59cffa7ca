// The repository as the tidy rules read it: its files, their lines, its packages, and the tools that check it.
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../..');

/** One violation of a rule, as `file:line message`. The message says what is wrong and what to do. */
export type Finding = string;

/**
 * The files that git tracks or would track, sorted, relative to the root, without generated code.
 * @param endings only files whose names end in one of these; all files when left out
 */
export function listFiles(...endings: string[]): string[] {
  const listed = runGit('ls-files', '--cached', '--others', '--exclude-standard').split('\n');
  const isWanted = (file: string) =>
    file !== '' &&
    !file.includes('/gen/') &&
    (endings.length === 0 || endings.some((ending) => file.endsWith(ending)));
  // git still lists a file that is deleted but not yet committed, and a link to a folder.
  const isFile = (file: string) => statSync(join(ROOT, file), { throwIfNoEntry: false })?.isFile();
  return listed.filter((file) => isWanted(file) && isFile(file)).sort();
}

export function readText(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

export function readLines(file: string): string[] {
  return readText(file).replace(/\n$/, '').split('\n');
}

/** Calls `check` for every line of the files. Each message that `check` returns becomes a finding. */
export function findInLines(
  files: string[],
  check: (line: string, file: string) => string | undefined,
): Finding[] {
  return files.flatMap((file) =>
    readLines(file).flatMap((line, index) => {
      const message = check(line, file);
      return message === undefined ? [] : [`${file}:${index + 1} ${message}`];
    }),
  );
}

/** A package of the workspace: its folder and what its package.json says. */
export interface Package {
  folder: string;
  name: string;
  dependencies: Record<string, string>;
}

/** Every package of the workspace, without the root. */
export function listPackages(): Package[] {
  return listFiles('/package.json').map((file) => {
    const { name, dependencies = {} } = JSON.parse(readText(file));
    return { folder: file.slice(0, -'/package.json'.length), name, dependencies };
  });
}

/**
 * Runs a tool of node_modules/.bin in a folder.
 * @returns the lines it printed when it failed; an empty list when it succeeded
 */
export function runLinter(
  tool: string,
  args: string[],
  folder = '.',
  ownEnv: NodeJS.ProcessEnv = {},
): string[] {
  const command = join(ROOT, 'node_modules', '.bin', tool);
  const options = { cwd: join(ROOT, folder), env: { ...process.env, ...ownEnv } };
  const ended = spawnSync(command, args, { ...options, encoding: 'utf8' });
  const { status, stdout, stderr, error } = ended;
  if (error) throw error;
  if (status === 0) return [];
  const lines = `${stdout}\n${stderr}`.split('\n').filter((line) => line.trim() !== '');
  return lines.length > 0 ? lines : [`${tool} failed with exit code ${status}`];
}

/** Returns what git prints. Throws when git fails. */
export function runGit(...args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  if (error) throw error;
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr.trim()}`);
  return stdout;
}

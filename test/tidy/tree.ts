// The repository as the tidy checks see it: its files, their lines, and the tools that judge them.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../..');

/** One thing out of order, as `file:line fault`: a place to go to and what to do there. */
export type Finding = string;

/** The files that git holds or would take, relative to the root; generated code left out. */
export function files(...endings: string[]): string[] {
  const all = runGit('ls-files', '--cached', '--others', '--exclude-standard').split('\n');
  const wanted = (file: string) => endings.length === 0 || endings.some((it) => file.endsWith(it));
  const kept = (file: string) => file !== '' && !file.startsWith('proto/gen/') && wanted(file);
  // A file deleted but not yet committed is still listed.
  return all.filter((file) => kept(file) && existsSync(join(ROOT, file))).sort();
}

/** The lines of a file. */
export function linesOf(file: string): string[] {
  return readFileSync(join(ROOT, file), 'utf8').replace(/\n$/, '').split('\n');
}

/** Looks at every line of the files; what `look` says of one becomes a finding there. */
export function findInLines(
  among: string[],
  look: (line: string, file: string) => string | undefined,
): Finding[] {
  return among.flatMap((file) =>
    linesOf(file).flatMap((line, index) => {
      const fault = look(line, file);
      return fault === undefined ? [] : [`${file}:${index + 1} ${fault}`];
    }),
  );
}

/** A package of the workspace: its folder and what its package.json says. */
export interface Package {
  folder: string;
  name: string;
  dependencies: Record<string, string>;
}

/** Every package of the workspace, the root left out. */
export function packages(): Package[] {
  return files('/package.json').map((file) => {
    const { name, dependencies = {} } = JSON.parse(readFileSync(join(ROOT, file), 'utf8'));
    return { folder: file.slice(0, -'/package.json'.length), name, dependencies };
  });
}

/** Runs a tool of node_modules/.bin; what it printed when it failed, nothing when all is well. */
export function complaintsOf(tool: string, args: string[], folder = '.'): string[] {
  const command = join(ROOT, 'node_modules', '.bin', tool);
  const cwd = join(ROOT, folder);
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (error) throw error;
  if (status === 0) return [];
  const lines = `${stdout}\n${stderr}`.split('\n').filter((line) => line.trim() !== '');
  return lines.length > 0 ? lines : [`${tool} failed with ${status}`];
}

/** What git prints; throws when it refuses. */
export function runGit(...args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  if (error) throw error;
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr.trim()}`);
  return stdout;
}

// The contracts in proto/ against their past and against the code generated from them.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { complaintsOf, type Finding, ROOT, runGit } from './tree.ts';

/** Generates the code anew beside the tree and names every file that differs from the committed. */
export function findStaleCode(): Finding[] {
  return inScratchFolder((scratch) => {
    const complaints = complaintsOf('buf', ['generate', '--output', scratch], 'proto');
    if (complaints.length > 0) return complaints;
    const committed = filesBelow(join(ROOT, 'proto/gen'));
    const fresh = filesBelow(join(scratch, 'gen'));
    const names = [...new Set([...committed.keys(), ...fresh.keys()])].sort();
    const stale = names.filter((name) => committed.get(name) !== fresh.get(name));
    return stale.map((name) => `proto/gen/${name}:1 is not what proto/ gives: npm run generate`);
  });
}

/**
 * What the contracts break for those who speak the version of the commit.
 * @param commit one that holds proto/
 */
export function findBreakingChanges(commit: string): Finding[] {
  return inScratchFolder((scratch) => {
    const archive = spawnSync('git', ['archive', commit, 'proto'], {
      cwd: ROOT,
      maxBuffer: 64 * 1024 * 1024,
    });
    const unpacked = spawnSync('tar', ['-x', '-C', scratch], { input: archive.stdout });
    if (archive.status !== 0 || unpacked.status !== 0) throw new Error(`cannot unpack ${commit}`);
    const against = join(scratch, 'proto');
    return complaintsOf('buf', ['breaking', '--against', against], 'proto');
  });
}

/**
 * The commit to compare the contracts with: the last on main, or when nothing has changed since
 * then, the one before their last change. Undefined where the history does not reach that far.
 */
export function findEarlierContracts(): string | undefined {
  for (const branch of ['main', 'origin/main', 'HEAD']) {
    const last = lastCommitOf(branch);
    if (last === undefined) continue;
    return isUnchangedSince(last) ? lastCommitOf(`${last}^`) : last;
  }
  return undefined;
}

/** The last commit of a revision that changed the contracts. */
function lastCommitOf(revision: string): string | undefined {
  try {
    return runGit('rev-list', '-1', revision, '--', 'proto/creditlane').trim() || undefined;
  } catch {
    // No such branch, or a clone too shallow to have that parent.
    return undefined;
  }
}

function isUnchangedSince(commit: string): boolean {
  return runGit('diff', '--name-only', commit, '--', 'proto/creditlane').trim() === '';
}

function inScratchFolder<T>(work: (scratch: string) => T): T {
  const scratch = mkdtempSync(join(tmpdir(), 'creditlane-contracts-'));
  try {
    return work(scratch);
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

/** Every file below a folder, by its path from there, with its text. */
function filesBelow(folder: string): Map<string, string> {
  mkdirSync(folder, { recursive: true });
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const found = entries.filter((entry) => entry.isFile());
  return new Map(
    found.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path.slice(folder.length + 1), readFileSync(path, 'utf8')];
    }),
  );
}

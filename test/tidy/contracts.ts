// The contracts in proto/, compared with their last version and with the code generated from them.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openApiDocument } from '@creditlane/gateway/document/openapi-document';
import { type Finding, ROOT, readText, runGit, runLinter } from './repository.ts';

/** Generates the code into a temporary folder and reports every committed file that differs from it. */
export function findStaleGeneratedCode(): Finding[] {
  return withTemporaryFolder((folder) => {
    const errors = runLinter('buf', ['generate', '--output', folder], 'proto');
    if (errors.length > 0) return errors;
    const committed = readFilesBelow(join(ROOT, 'proto/gen'));
    const generated = readFilesBelow(join(folder, 'gen'));
    const names = [...new Set([...committed.keys(), ...generated.keys()])].sort();
    const stale = names.filter((name) => committed.get(name) !== generated.get(name));
    return stale.map(
      (name) => `proto/gen/${name}:1 differs from what proto/ generates: npm run generate`,
    );
  });
}

/** Reports the code of the OpenAPI document where it differs from what services/gateway/openapi generates. */
export function findStaleOpenApiCode(): Finding[] {
  return withTemporaryFolder((folder) => {
    const script = join(ROOT, 'services/gateway/document/code-generation/generate-types.ts');
    const { status, stderr } = spawnSync(process.execPath, [script, folder], { encoding: 'utf8' });
    if (status !== 0)
      return [`services/gateway/document/code-generation/generate-types.ts:1 fails: ${stderr}`];
    const generated = [...readFilesBelow(folder)];
    const stale = generated.filter(
      ([file, text]) => !existsSync(join(ROOT, file)) || readText(file) !== text,
    );
    return stale.map(
      ([file]) =>
        `${file}:1 differs from what services/gateway/openapi generates: npm run generate`,
    );
  });
}

/**
 * Reports what Redocly's recommended rules find in the OpenAPI document, warnings included. Redocly is one
 * package of 15 MB without dependencies; Spectral 6.16 depends on twenty packages directly.
 */
export function findOpenApiProblems(): Finding[] {
  return withTemporaryFolder((folder) => {
    const file = join(folder, 'openapi.json');
    writeFileSync(file, JSON.stringify(openApiDocument(), null, 2));
    const args = ['lint', '--extends=recommended-strict', '--format=stylish', file];
    // Redocly would report its use, and ask for its latest version.
    const offline = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    return runLinter('redocly', args, '.', offline);
  });
}

/**
 * Reports every change since a commit that breaks a client generated from that commit's contracts.
 * @param commit must contain proto/
 */
export function findBreakingChanges(commit: string): Finding[] {
  return withTemporaryFolder((folder) => {
    const archive = spawnSync('git', ['archive', commit, 'proto'], {
      cwd: ROOT,
      maxBuffer: 64 * 1024 * 1024,
    });
    const unpacked = spawnSync('tar', ['-x', '-C', folder], { input: archive.stdout });
    if (archive.status !== 0 || unpacked.status !== 0) throw new Error(`cannot unpack ${commit}`);
    return runLinter('buf', ['breaking', '--against', join(folder, 'proto')], 'proto');
  });
}

/**
 * The commit to compare the contracts with: the last commit on main that changed them. When the
 * working tree has no changes since that commit, the one before it. Undefined when the history of
 * this clone does not reach that far back.
 */
export function findEarlierContracts(): string | undefined {
  for (const branch of ['main', 'origin/main', 'HEAD']) {
    const last = findLastContractCommit(branch);
    if (last === undefined) continue;
    return isUnchangedSince(last) ? findLastContractCommit(`${last}^`) : last;
  }
  return undefined;
}

function findLastContractCommit(revision: string): string | undefined {
  try {
    return runGit('rev-list', '-1', revision, '--', 'proto/creditlane').trim() || undefined;
  } catch {
    // The branch does not exist, or the clone is too shallow to contain that parent.
    return undefined;
  }
}

function isUnchangedSince(commit: string): boolean {
  return runGit('diff', '--name-only', commit, '--', 'proto/creditlane').trim() === '';
}

function withTemporaryFolder<T>(work: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'creditlane-contracts-'));
  try {
    return work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The text of every file below a folder, by the file's path relative to that folder. */
function readFilesBelow(folder: string): Map<string, string> {
  mkdirSync(folder, { recursive: true });
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return new Map(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path.slice(folder.length + 1), readFileSync(path, 'utf8')];
    }),
  );
}

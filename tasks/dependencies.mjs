// @ts-check
// Installs the dependencies when they do not match the lockfile. A stamp file in node_modules contains the
// digest of the installed state, so that an unchanged repository starts without npx.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitForExit } from './child.mjs';

const PNPM = 'pnpm@12.21.0';
const INSTALL = ['-y', PNPM, 'install', '--frozen-lockfile', '--reporter=append-only'];

/**
 * @param {string} root the repository
 * @returns {Promise<string | undefined>} why the installation failed, in one line; undefined on success
 */
export async function installDependencies(root) {
  const stampFile = join(root, 'node_modules', '.creditlane-installed');
  const wanted = fingerprint(root);
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === wanted) return undefined;

  // An installation that is interrupted leaves neither these dependencies nor those of the stamp.
  rmSync(stampFile, { force: true });
  process.stderr.write(`Installing dependencies with ${PNPM} ...\n`);
  const startedAt = performance.now();
  const { code, output } = await runNpx(root);
  if (code !== 0) return `the dependencies cannot be installed: ${reasonIn(output, code)}`;
  writeFileSync(stampFile, wanted);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  process.stderr.write(`Dependencies installed in ${seconds} s.\n`);
  return undefined;
}

/** A digest of all files that determine what is installed. */
function fingerprint(/** @type {string} */ root) {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}`);
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', ...manifests(root)]) {
    hash.update(`\n${file}\n`).update(readFileSync(join(root, file)));
  }
  return hash.digest('hex');
}

/** The package.json of each package in pnpm-workspace.yaml. */
function manifests(/** @type {string} */ root) {
  const workspace = readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8');
  const patterns = [...workspace.matchAll(/^ {2}- ["']?([^"'\s]+)/gm)].map(([, name = '']) => name);
  const folders = patterns.flatMap((pattern) => {
    if (!pattern.endsWith('/*')) return [pattern];
    const parent = pattern.slice(0, -2);
    if (!existsSync(join(root, parent))) return [];
    return readdirSync(join(root, parent))
      .sort()
      .map((name) => `${parent}/${name}`);
  });
  const files = ['package.json', ...folders.map((folder) => `${folder}/package.json`)];
  return files.filter((file) => existsSync(join(root, file)));
}

/** Runs the pinned pnpm; returns its exit code and its output. */
async function runNpx(/** @type {string} */ root) {
  let output = '';
  // CI keeps pnpm from prompting. With NODE_ENV=production it would not install devDependencies.
  const env = { ...process.env, CI: 'true', NODE_ENV: 'development' };
  const child = spawn('npx', INSTALL, {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  try {
    return { code: await waitForExit(child, false), output };
  } catch (error) {
    return { code: 1, output: `${error instanceof Error ? error.message : error}` };
  }
}

/** The line of the output with the error, and the command that shows all output. */
function reasonIn(/** @type {string} */ output, /** @type {number} */ code) {
  const lines = output.split('\n').map((line) => line.trim());
  const errorLine =
    lines.find((line) => /ERR_|\berror\b|ENOENT/i.test(line)) ?? lines.findLast(Boolean);
  const command = `npx ${INSTALL.slice(0, -1).join(' ')}`;
  return `${errorLine ?? `exit code ${code}`} (run \`${command}\` to see all output)`;
}

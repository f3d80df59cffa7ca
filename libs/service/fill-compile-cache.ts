/**
 * Starts programs with --check, so that Node stores in NODE_COMPILE_CACHE what it compiles of them. The arguments are the
 * programs' paths, as glob patterns. The programs get no settings: each names those that it needs, and ends with 1.
 */
import { spawnSync } from 'node:child_process';
import { glob } from 'node:fs/promises';

for await (const program of glob(process.argv.slice(2))) {
  const args = [...process.execArgv, program, '--check'];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 1 || !/^[A-Z_]+: /m.test(stderr)) {
    throw new Error(`${program} --check ended with ${status}: ${stderr}`);
  }
  process.stdout.write(`${program} is in the compile cache\n`);
}

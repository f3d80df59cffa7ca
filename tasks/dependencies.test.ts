import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { installDependencies } from './dependencies.mjs';

/** A repository beside a program `npx` that runs the given shell script. */
async function makeRepository() {
  const root = await mkdtemp(join(tmpdir(), 'creditlane-dependencies-'));
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(async () => {
    write.mockRestore();
    vi.unstubAllEnvs();
    await rm(root, { recursive: true });
  });
  await mkdir(join(root, 'node_modules'));
  await writeFile(join(root, 'package.json'), '{}');
  await writeFile(join(root, 'pnpm-workspace.yaml'), '');
  const lock = (text: string) => writeFile(join(root, 'pnpm-lock.yaml'), text);
  vi.stubEnv('PATH', [root, process.env.PATH].join(delimiter));
  const installBy = async (script: string) => {
    await writeFile(join(root, 'npx'), `#!/bin/sh\n${script}\n`);
    await chmod(join(root, 'npx'), 0o755);
    return installDependencies(root);
  };
  return { lock, installBy };
}

test('dependencies that match the lockfile are not installed again', async () => {
  const { lock, installBy } = await makeRepository();
  await lock('one');
  expect(await installBy('exit 0')).toBeUndefined();
  expect(await installBy('exit 1')).toBeUndefined();
  await lock('two');
  expect(await installBy('exit 1')).toMatch(/the dependencies cannot be installed: exit code 1/);
});

test('after an installation that was interrupted the dependencies of before are installed again', async () => {
  const { lock, installBy } = await makeRepository();
  await lock('one');
  expect(await installBy('exit 0')).toBeUndefined();
  await lock('two');
  expect(await installBy('kill -KILL $$')).toMatch(/exit code 137/);
  await lock('one');
  expect(await installBy('echo ERR_INSTALLING; exit 1')).toMatch(/ERR_INSTALLING/);
});

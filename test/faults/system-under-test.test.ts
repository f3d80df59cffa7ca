import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { LaunchedPlatform, listProcessesUsing } from '../platform/launched-platform.ts';
import { SystemUnderTest } from './system-under-test.ts';

test('a platform that is not ready in time leaves no process and no data directory', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'creditlane-late-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  vi.stubEnv('TMPDIR', folder);
  const ready = vi.spyOn(LaunchedPlatform.prototype, 'ready');
  ready.mockRejectedValueOnce(new Error('no demo.json'));
  await expect(SystemUnderTest.start()).rejects.toThrow('no demo.json');
  expect(await readdir(folder)).toEqual([]);
  await expect.poll(() => listProcessesUsing(folder)).toEqual([]);
});

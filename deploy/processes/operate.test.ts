import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openPostgres } from '@creditlane/local/postgres';
import { openSecrets } from '@creditlane/local/secrets-file';
import { SERVICES } from '@creditlane/platform/services';
import { compiledModules } from '@creditlane/runtime/compiled-modules';
import { createTestProcess } from '@creditlane/runtime/test-process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readOperateOptions } from './options.ts';

const run = promisify(execFile);

describe('npm run operate', () => {
  const platform = createTestProcess('operate');
  let dir: string;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'creditlane-operate-'));
    // PostgreSQL may run as another user.
    await chmod(dir, 0o711);
    const secrets = await openSecrets(dir, SERVICES);
    const ports = { api: 0, ops: 0, inbox: 0, simulator: 0, services: [] };
    await openPostgres({ services: SERVICES, dir, pidFilesDir: dir, ports, secrets }, platform);
  }, 60_000);
  afterAll(async () => {
    await platform.closers.close();
    await rm(dir, { recursive: true });
  });
  const operate = (...args: string[]) => {
    const file = join(import.meta.dirname, 'operate.ts');
    // With this variable of the person's shell, the command would wait for migrations.
    const env = { MIGRATE_AT_START: 'false', ...compiledModules() };
    return run(process.execPath, [file, '--data-dir', dir, ...args], { env });
  };

  test.each([
    ['webhook-dispatcher', '--dead-letters', { listed: 0 }],
    // Needs the key ring and the settings of the bureaus.
    ['credit-file', '--verify-audit', { chains: 0, broken: 0 }],
  ])(
    'runs %s %s on the platform of the data directory',
    { timeout: 60_000 },
    async (service, command, result) => {
      expect(JSON.parse((await operate(service, command)).stdout)).toEqual(result);
    },
  );

  test('ends as the command does', { timeout: 60_000 }, async () => {
    await expect(operate('decisions', '--commands')).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/--commands is none of --check, --migrate, --dead-letters/),
    });
  });

  test('on a data directory without a running platform is refused in one line', async () => {
    const elsewhere = await mkdtemp(join(tmpdir(), 'creditlane-operate-'));
    await expect(operate('--data-dir', elsewhere, 'decisions', '--migrate')).rejects.toMatchObject({
      code: 1,
      stderr: `Nothing runs on ${elsewhere}. Name another data directory with --data-dir.\n`,
    });
    await rm(elsewhere, { recursive: true });
  });
});

test('the options of npm run operate end at the service, and those of the command follow it', () => {
  const command = ['--dead-letter', '--id', 'decisions'];
  expect(readOperateOptions(['--data-dir', 'here', 'webhook-dispatcher', ...command])).toEqual({
    dataDir: 'here',
    service: 'webhook-dispatcher',
    command,
  });
});

test.each([
  [[], /^No service is named, such as applications, /],
  [['gateway', '--migrate'], /^No service is named/],
  [['decisions'], /^No command of decisions is named/],
  [['decisions', '--check'], /^No command of decisions is named/],
  [['decisions', 'dead-letters'], /^No command of decisions is named/],
  [['--dir', 'here', 'decisions', '--migrate'], /^Unknown option '--dir'/],
])('npm run operate with %j is refused', (argv, message) => {
  expect(() => readOperateOptions(argv)).toThrow(message);
});

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);

test.each([
  [['--kubernets', 'creditlane'], "Unknown option '--kubernets'"],
  [['--kubernetes'], "Option '--kubernetes <value>' argument missing"],
  [['--admin-url-file', 'admin-url'], '--admin-url-file needs --kubernetes'],
  [['--kubernetes', 'creditlane', '--admin-url-file', '/no/file'], 'ENOENT: no such file'],
])(
  'npm run secrets with the options %j is refused with the reason and the help',
  async (args, reason) => {
    const refused = run(process.execPath, [join(import.meta.dirname, 'secrets.ts'), ...args]);
    await expect(refused).rejects.toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(
        `^${reason}.*\nnpm run secrets makes or completes deploy/.env.\n`,
      ),
    });
  },
);

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startBroker } from './broker.ts';

/** Puts a program in the place of java, which is a script with this text. */
async function useJava(script: string): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'creditlane-broker-'));
  await writeFile(join(dir, 'java'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  vi.stubEnv('PATH', dir);
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await rm(dir, { recursive: true });
  });
  return dir;
}

test.each([
  ['is killed', 'kill -KILL $$', 'Java ended with SIGKILL'],
  ['exits', 'exit 3', 'Java ended with code 3'],
])(
  'a format that %s without a word fails with the way in which it ended, and without its arguments',
  async (_, script, reason) => {
    const dir = await useJava(script);
    const options = { classpath: dir, classArchive: '-Xshare:off', clusterId: 'test' };
    const scramUsers = ['SCRAM-SHA-512=[name=user,password=secret]'];
    const started = startBroker({
      ...options,
      folder: join(dir, 'broker'),
      properties: {},
      scramUsers,
    });
    await expect(started).rejects.toMatchObject({
      name: 'KafkaBrokerError',
      message: `Kafka cannot format its folder: ${reason}`,
    });
  },
);

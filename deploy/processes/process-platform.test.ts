import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseUrls } from '@creditlane/platform/databases';
import { completeSecrets } from '@creditlane/platform/secrets';
import { SERVICES } from '@creditlane/platform/services';
import { createTestProcess } from '@creditlane/runtime/test-process';
import { isRunning, readPidFile } from '@creditlane/supervision/pid-file';
import { expect, onTestFinished, test, vi } from 'vitest';
import { portsNeeded } from './instances.ts';
import { startProcessPlatform } from './process-platform.ts';

test('the replicas of a service stop together, so that many take no longer than one', async () => {
  const pidFilesDir = await mkdtemp(join(tmpdir(), 'creditlane-process-platform-'));
  const process = createTestProcess('process-platform');
  onTestFinished(async () => {
    await process.closers.close();
    await rm(pidFilesDir, { recursive: true });
  });
  const add = vi.spyOn(process.closers, 'add');
  const services = SERVICES.filter(({ name }) => name === 'applications' || name === 'decisions');
  const replicas = { decisions: 3 };
  const nowhere = '127.0.0.1:1';
  const databaseUrls = Object.fromEntries(
    services.map(({ name }) => [name, `postgres://postgres@${nowhere}/postgres`]),
  );
  // Without a database and Kafka the services wait.
  const options = {
    services,
    replicas,
    ports: {
      ...{ api: 0, ops: 0, inbox: 0, simulator: 0 },
      services: Array.from({ length: portsNeeded(replicas, services) }, () => 0),
    },
    secrets: completeSecrets({}, services),
    kafka: { KAFKA_BROKERS: nowhere },
    databaseUrls: databaseUrls as DatabaseUrls,
    pidFilesDir,
    write: () => undefined,
  };
  const started = startProcessPlatform(options, process);
  const failure = started.catch((error: Error) => error.message);
  const names = ['applications', 'decisions', 'decisions-2', 'decisions-3'];
  await expect.poll(async () => (await readdir(pidFilesDir)).toSorted()).toEqual(names);
  expect(add.mock.calls.map(([name]) => name)).toEqual(['applications', 'decisions']);
  await process.closers.close();
  for (const name of names) {
    const identity = await readPidFile(join(pidFilesDir, name));
    expect(identity && (await isRunning(identity)), name).toBe(false);
  }
  expect(await failure).toContain('could not start');
});

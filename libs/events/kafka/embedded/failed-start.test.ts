// What a start of the embedded Kafka that fails says to the person who made it.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startKafka } from '@creditlane/embedded-kafka/embedded-kafka';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { describeWithKafka, findKafka } from '../test-kafka.ts';

describeWithKafka(await findKafka(), 'a start of Kafka', () => {
  let dataDir: string;
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'creditlane-failed-start-'));
  });
  afterEach(() => rm(dataDir, { recursive: true, force: true }));
  const start = (brokers: 1 | 3) => startKafka({ brokers, dataDir, access: 'anyone' });

  test('on a folder that cannot be formatted fails with the reason, in one line', {
    timeout: 60_000,
  }, async () => {
    await mkdir(join(dataDir, 'broker-0'));
    await writeFile(join(dataDir, 'broker-0', 'data'), 'a file');
    await expect(start(1)).rejects.toMatchObject({
      name: 'KafkaBrokerError',
      message: expect.stringMatching(/^Kafka cannot format its folder: .*Not a directory$/),
    });
  });
});

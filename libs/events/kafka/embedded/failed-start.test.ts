// What a start of the embedded Kafka that fails says to the person who made it.
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
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
  const makeFolders = async (count: number) => {
    for (let index = 0; index < count; index += 1) await mkdir(join(dataDir, `broker-${index}`));
  };
  const start = (brokers: 1 | 3) => startKafka({ brokers, dataDir, access: 'anyone' });

  test('on a folder that cannot be formatted fails with the reason, in one line', {
    timeout: 60_000,
  }, async () => {
    await makeFolders(1);
    await writeFile(join(dataDir, 'broker-0', 'data'), 'a file');
    await expect(start(1)).rejects.toMatchObject({
      name: 'KafkaBrokerError',
      message: expect.stringMatching(/^Kafka cannot format its folder: .*Not a directory$/),
    });
  });

  test.each([
    [1, 3, 'has 1 broker, not 3.'],
    [3, 1, 'has 3 brokers, not 1.'],
  ] as const)('on a cluster of %i is refused with %i', async (before, brokers, message) => {
    await makeFolders(before);
    // A start that was interrupted may have formatted some of the folders.
    await mkdir(join(dataDir, 'broker-0', 'data'));
    await writeFile(join(dataDir, 'broker-0', 'data', 'meta.properties'), '');
    await expect(start(brokers)).rejects.toMatchObject({
      name: 'KafkaSizeError',
      message: `The Kafka in ${dataDir} ${message}`,
      brokers: before,
    });
  });

  test('on a cluster that has lost the files by which its folders are recognised is refused, and deletes nothing', async () => {
    await makeFolders(3);
    const segments = join(dataDir, 'broker-2', 'data', 'creditlane.decisions.v1-0');
    await mkdir(segments, { recursive: true });
    await expect(start(1)).rejects.toMatchObject({ name: 'KafkaSizeError', brokers: 3 });
    expect(await readdir(segments)).toEqual([]);
  });

  test('on the folders of a larger cluster that were never formatted makes a new cluster', {
    timeout: 120_000,
  }, async () => {
    await makeFolders(3);
    const kafka = await start(1);
    await kafka.close();
    expect((await readdir(dataDir)).toSorted()).toEqual(['broker-0', 'cluster-id']);
  });
});

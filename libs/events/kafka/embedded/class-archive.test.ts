import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startBroker } from '@creditlane/embedded-kafka/broker';
import { listenersOf, settingsOf } from '@creditlane/embedded-kafka/broker-settings';
import { classArchiveOption } from '@creditlane/embedded-kafka/class-archive';
import { kafkaClasspath } from '@creditlane/embedded-kafka/jars';
import { findFreePorts } from '@creditlane/supervision/free-ports';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { describeWithKafka, findKafka } from '../test-kafka.ts';

const HOST = '127.0.0.1';
/** Where /proc lists the files that a process has mapped. */
const onLinux = test.runIf(process.platform === 'linux');

describeWithKafka(await findKafka(), 'a broker', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'creditlane-class-archive-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** Starts a broker with the option; returns the files that it has mapped into its memory. */
  async function mappedFiles(classpath: string, classArchive: string): Promise<string> {
    const ports = await findFreePorts(2);
    const broker = await startBroker({
      folder,
      classpath,
      classArchive,
      clusterId: 'test',
      properties: {
        ...settingsOf(0, HOST, ports),
        ...listenersOf('anyone', HOST, ports[0], ports[1]),
      },
    });
    try {
      const { pid } = JSON.parse(await readFile(join(folder, 'broker.pid'), 'utf8'));
      return await readFile(`/proc/${pid}/maps`, 'utf8');
    } finally {
      await broker.stop('SIGKILL');
    }
  }

  onLinux('maps the archive of its classes, which is made once and used again', async () => {
    const classpath = await kafkaClasspath();
    const option = await classArchiveOption(classpath);
    const [, archive = ''] = option.split('=');
    const made = await stat(archive);
    expect(await classArchiveOption(classpath)).toBe(option);
    expect(await stat(archive)).toMatchObject({ ino: made.ino, mtimeMs: made.mtimeMs });
    expect(await mappedFiles(classpath, option)).toContain(archive);
  });

  onLinux('starts without an archive that its Java did not make', async () => {
    const foreign = join(folder, 'foreign.jsa');
    await writeFile(foreign, 'made by another Java');
    const files = await mappedFiles(await kafkaClasspath(), `-XX:SharedArchiveFile=${foreign}`);
    expect(files).not.toContain('foreign.jsa');
  });
});

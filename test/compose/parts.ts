/** The programs and files that the images and the end-to-end tests are made of, from the cache when it has them. */
import { dirname, join } from 'node:path';
import { kafkaClasspath } from '@creditlane/embedded-kafka/jars';
import { type DebianPrograms, debianPrograms } from '../end-to-end/debian-programs.ts';
import { cachedPart, digestOf } from '../programs/cache.ts';
import { buildGoProgram } from '../programs/go-program.ts';

/** Its go.mod pins the release. Debian 12 has only version 1, which Docker's documentation no longer describes. */
const MODULE = join(import.meta.dirname, 'program');
const PACKAGE = 'github.com/docker/compose/v2/cmd';

export interface ComposeParts {
  debian: DebianPrograms;
  /** The path of docker-compose. */
  dockerCompose: string;
  /** The folder of Kafka's jars. */
  kafkaJars: string;
}

export interface ComposeInputs {
  parts: ComposeParts;
  /** The data of Docker's engine, which has every image. */
  dataDir: string;
  /** An empty folder. */
  dir: string;
  cgroup: string;
}

export async function prepareParts(): Promise<ComposeParts> {
  const [debian, classpath] = await Promise.all([debianPrograms(), kafkaClasspath()]);
  const digest = await digestOf(['go.mod', 'go.sum'].map((file) => join(MODULE, file)));
  const folder = await cachedPart('docker-compose', digest, (made) =>
    buildGoProgram(MODULE, PACKAGE, join(made, 'docker-compose'), '-s -w'),
  );
  return {
    debian,
    dockerCompose: join(folder, 'docker-compose'),
    kafkaJars: dirname(classpath),
  };
}

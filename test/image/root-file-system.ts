/** The root file system of the image, made by the steps of deploy/Dockerfile without a container engine. */
import { execFile } from 'node:child_process';
import {
  chmod,
  chown,
  copyFile,
  cp,
  mkdir,
  readdir,
  readFile,
  rm,
  writeFile,
} from 'node:fs/promises';
import { dirname, join, matchesGlob, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const ROOT = resolve(import.meta.dirname, '../..');
const INSTALL_WITHIN_MS = 280_000;
/** Where the base image has Node, and the image the source. */
export const NODE = '/nodejs/bin/node';
const WORKDIR = '/creditlane';
/** The user, and his group, of the image's processes. */
export const USER = 65532;
/** The image's NODE_COMPILE_CACHE. */
export const COMPILE_CACHE = '/cache/node';

/** Makes the file system in a folder, which is emptied. */
export async function assembleRootFileSystem(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  const manifests = `${folder}-manifests`;
  await rm(manifests, { recursive: true, force: true });
  await runStage('manifests', manifests);
  await runStage('build', join(folder, WORKDIR), manifests);
  await rm(manifests, { recursive: true });
  await addBase(folder);
  await fillCompileCache(folder);
}

/** The packages that are installed, as name@version. */
export async function installedPackages(folder: string): Promise<string[]> {
  const names = await readdir(join(folder, WORKDIR, 'node_modules/.pnpm'));
  return names
    .filter((name) => /.@\d/.test(name))
    .map((name) => name.replace(/[(_].*$/, '').replace('+', '/'));
}

/** The packages that the bill of materials lists, as name@version. */
export async function listedPackages(folder: string): Promise<string[]> {
  const text = await readFile(join(folder, WORKDIR, 'sbom.cdx.json'), 'utf8');
  const { bomFormat, components } = JSON.parse(text) as {
    bomFormat: string;
    components: { purl: string }[];
  };
  if (bomFormat !== 'CycloneDX') throw new Error(`the bill of materials is ${bomFormat}`);
  return components.map(({ purl }) => decodeURIComponent(purl).replace(/^pkg:npm\/|\?.*$/g, ''));
}

/** The files of the repository that deploy/Dockerfile.dockerignore lets into the build. The last pattern that fits decides. */
export async function contextFiles(): Promise<string[]> {
  const text = await readFile(join(ROOT, 'deploy/Dockerfile.dockerignore'), 'utf8');
  const rules = text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({ isIncluded: line.startsWith('!'), pattern: line.replace(/^!/, '') }));
  const { stdout } = await run('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    maxBuffer: 2 ** 24,
  });
  const isInContext = (file: string) =>
    rules.findLast(
      ({ pattern }) => matchesGlob(file, pattern) || matchesGlob(file, `${pattern}/**`),
    )?.isIncluded ?? true;
  return stdout.split('\n').filter((file) => file !== '' && isInContext(file));
}

/** Does in `workdir` what a stage of the Dockerfile does there. `manifests` has the result of the stage of that name. */
async function runStage(stage: string, workdir: string, manifests = ''): Promise<void> {
  await mkdir(workdir, { recursive: true });
  const text = await readFile(join(ROOT, 'deploy/Dockerfile'), 'utf8');
  const [, steps = ''] = new RegExp(`AS ${stage}\\n([^]*?)(?=^FROM )`, 'm').exec(text) ?? [];
  for (const [step, instruction, rest = ''] of steps.matchAll(/^(COPY|RUN) (.+)$/gm)) {
    if (instruction === 'RUN') {
      await run('sh', ['-c', rest], { cwd: workdir, timeout: INSTALL_WITHIN_MS });
    } else if (rest === '. .') {
      await copyContext(workdir);
    } else if (rest === `--from=manifests ${WORKDIR} .`) {
      await cp(manifests, workdir, { recursive: true });
    } else {
      throw new Error(`this step of deploy/Dockerfile is not known here: ${step}`);
    }
  }
}

/** An argument of the image's Node, which may be a path in the image's folder. */
export function absolutePath(arg: string): string {
  return /^(services|libs)\//.test(arg) ? `${WORKDIR}/${arg}` : arg;
}

/** Does what the last stage does by the user of the image. */
async function fillCompileCache(folder: string): Promise<void> {
  const text = await readFile(join(ROOT, 'deploy/Dockerfile'), 'utf8');
  const program = /^RUN (\["node", .+\])$/m.exec(text)?.[1];
  if (program === undefined) throw new Error('deploy/Dockerfile runs no program of Node');
  const [, ...args]: string[] = JSON.parse(program);
  const cache = join(folder, COMPILE_CACHE);
  await mkdir(cache, { recursive: true });
  await chown(cache, USER, USER);
  const user = [`--userspec=${USER}:${USER}`, `--groups=${USER}`];
  await run('chroot', [...user, folder, NODE, ...args.map(absolutePath)], {
    env: { PATH: process.env.PATH, NODE_ENV: 'production', NODE_COMPILE_CACHE: COMPILE_CACHE },
  });
}

async function copyContext(folder: string): Promise<void> {
  for (const file of await contextFiles()) {
    const target = join(folder, file);
    await mkdir(dirname(target), { recursive: true });
    await copyFile(join(ROOT, file), target);
  }
}

/** What the base image has: Node with the libraries that it needs, and folders to mount on. */
async function addBase(folder: string): Promise<void> {
  const { stdout } = await run('ldd', [process.execPath]);
  const libraries = [...stdout.matchAll(/(\/\S+) \(0x/g)].map(([, path = '']) => path);
  const files = [
    ...libraries.map((path) => [path, path] as const),
    [process.execPath, NODE] as const,
  ];
  for (const [source, target] of files) {
    await mkdir(dirname(join(folder, target)), { recursive: true });
    await copyFile(source, join(folder, target));
    await chmod(join(folder, target), 0o755);
  }
  for (const name of ['proc', 'tmp', 'dev']) await mkdir(join(folder, name));
  for (const name of ['null', 'zero', 'urandom']) await writeFile(join(folder, 'dev', name), '');
}

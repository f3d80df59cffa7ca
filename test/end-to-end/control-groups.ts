/** The control groups of a run, below which everything that its containers use is counted. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const ROOT = '/sys/fs/cgroup';

/** The folders of the hierarchies: one for all controllers, or one for each. */
async function hierarchies(): Promise<string[]> {
  if (existsSync(join(ROOT, 'cgroup.controllers'))) return [ROOT];
  return (await readdir(ROOT)).map((name) => join(ROOT, name));
}

/**
 * The weights of three processes outside of the group. With that of one, which is the default, the containers of all nodes
 * together get as much of a busy machine as one thread of a broker.
 */
const WEIGHTS = { 'cpu.shares': '3072', 'cpu.weight': '300' };

/** Makes the groups, each after its parent, which is the first one. */
export async function makeControlGroups(groups: readonly string[]): Promise<void> {
  for (const hierarchy of await hierarchies()) {
    for (const group of groups) {
      const folder = join(hierarchy, group);
      await mkdir(folder, { recursive: true });
      // A new group of this controller has no processor until it gets some.
      for (const file of ['cpuset.cpus', 'cpuset.mems']) {
        if (!existsSync(join(hierarchy, file)) || hierarchy === ROOT) continue;
        await writeFile(join(folder, file), await readFile(join(hierarchy, file), 'utf8'));
      }
    }
    const parent = join(hierarchy, groups[0] ?? '');
    for (const [file, weight] of Object.entries(WEIGHTS)) {
      if (existsSync(join(parent, file))) await writeFile(join(parent, file), weight);
    }
  }
}

/** Removes a group with all that was made below it, once its processes have ended. */
export async function removeControlGroups(group: string): Promise<void> {
  for (const hierarchy of await hierarchies()) await removeBelow(join(hierarchy, group));
}

async function removeBelow(folder: string): Promise<void> {
  if (!existsSync(folder)) return;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await removeBelow(join(folder, entry.name));
  }
  await rmdir(folder).catch((error: Error) => {
    process.stderr.write(`${folder} remains: ${error.message}\n`);
  });
}

/**
 * Debian packages, unpacked into the cache instead of installed: no service starts, and nothing outside the cache
 * changes.
 */
import { cachedPart, digestOf } from './cache.ts';
import { run } from './run.ts';

/** The folder of the packages' files; `complete` changes it once they are unpacked. */
export async function unpackedPackages(
  name: string,
  packages: readonly string[],
  complete: (folder: string) => Promise<void> = async () => undefined,
): Promise<string> {
  return cachedPart(name, await digestOf([], ...packages), async (folder) => {
    const download = () => run('apt-get', ['download', ...packages], { cwd: folder });
    // A new machine has no lists of packages, and old lists name versions that are gone.
    await download().catch(async () => {
      await run('apt-get', ['update']);
      await download();
    });
    await run('sh', ['-ec', 'for it in *.deb; do dpkg-deb --extract "$it" .; rm "$it"; done'], {
      cwd: folder,
    });
    await complete(folder);
  });
}

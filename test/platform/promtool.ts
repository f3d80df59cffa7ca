import { join } from 'node:path';
import { prometheusPrograms } from '../cluster/parts/prometheus-programs.ts';
import { run } from '../cluster/parts/run.ts';

/** The path of promtool: the machine's own, or that of Debian's package. Throws where neither is to be had. */
export async function findPromtool(): Promise<string> {
  const isInstalled = await run('promtool', ['--version']).then(
    () => true,
    () => false,
  );
  if (isInstalled) return 'promtool';
  return join(await prometheusPrograms(), 'promtool');
}

import { join } from 'node:path';
import { prometheusPrograms } from '../programs/prometheus-programs.ts';
import { run } from '../programs/run.ts';
import { findOptional } from './optional-program.ts';

/** The path of promtool: the machine's own, or that of Debian's package. Undefined where neither is to be had. */
export function findPromtool(): Promise<string | undefined> {
  return findOptional('promtool', async () => {
    const isInstalled = await run('promtool', ['--version']).then(
      () => true,
      () => false,
    );
    return isInstalled ? 'promtool' : join(await prometheusPrograms(), 'promtool');
  });
}

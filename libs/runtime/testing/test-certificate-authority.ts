/** For the tests: a certificate authority that issues certificates for this machine, by openssl. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Paths of PEM files. */
export interface IssuedFiles {
  cert: string;
  key: string;
  ca: string;
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

export class TestCertificateAuthority {
  readonly #dir = mkdtempSync(join(tmpdir(), 'creditlane-tls-'));
  #issued = 0;

  /** The files are removed at the end of the test, or when `onEnd` calls its argument. */
  constructor(onEnd: (remove: () => void) => void = onTestFinished) {
    onEnd(() => rmSync(this.#dir, { recursive: true }));
    const ca = ['-keyout', this.#path('ca.key'), '-out', this.#path('ca.crt')];
    openssl('req', '-x509', ...NEW_KEY, ...ca, '-days', '2', '-subj', '/CN=test authority');
  }

  /**
   * A new certificate with its key and this authority; the names are written as openssl reads them. One that is valid for 0
   * days has expired.
   */
  issue(alternativeNames = 'IP:127.0.0.1,DNS:localhost', days = 1): IssuedFiles {
    this.#issued += 1;
    const [key, request, cert, names] = ['key', 'csr', 'crt', 'ext'].map((end) =>
      this.#path(`${this.#issued}.${end}`),
    ) as [string, string, string, string];
    const ca = this.#path('ca.crt');
    writeFileSync(names, `subjectAltName=${alternativeNames}\n`);
    openssl('req', '-new', ...NEW_KEY, '-keyout', key, '-out', request, '-subj', '/CN=a service');
    const signer = ['-CA', ca, '-CAkey', this.#path('ca.key'), '-set_serial', `${this.#issued}`];
    const ends = ['-days', `${days}`, '-extfile', names];
    openssl('x509', '-req', '-in', request, ...signer, ...ends, '-out', cert);
    return { cert, key, ca };
  }

  #path(name: string): string {
    return join(this.#dir, name);
  }
}

/** Replaces the file at `path` with a copy of another, atomically. */
export function replaceFile(path: string, newFile: string): void {
  copyFileSync(newFile, `${path}.new`);
  renameSync(`${path}.new`, path);
}

/** Replaces all files of a set with those of another set. */
export function replaceFiles(paths: IssuedFiles, newFiles: IssuedFiles): void {
  for (const name of ['cert', 'key', 'ca'] as const) replaceFile(paths[name], newFiles[name]);
}

function openssl(...args: string[]): void {
  execFileSync('openssl', args, { stdio: 'pipe' });
}

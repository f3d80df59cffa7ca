/**
 * The TLS certificate of a process and the authority that it trusts: PEM files, which are read again
 * when they change. New connections of gRPC and HTTP clients and servers use the new files.
 */

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { Process } from '@creditlane/runtime/run';
import { type Setting, setting } from '@creditlane/runtime/setting';
import { observeCertificateExpiry } from '@creditlane/runtime/telemetry/certificate-expiry';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { LoggableError } from '@creditlane/runtime/telemetry/loggable-error';
import type { experimental } from '@grpc/grpc-js';

/** Paths of PEM files. */
export type CertificateFiles = { cert: string; key: string; ca: string };

/**
 * Contents of PEM files. `cert` may include intermediate certificates; `ca` may contain two authorities
 * while one replaces the other.
 */
export type Pem = { readonly cert: Buffer; readonly key: Buffer; readonly ca: Buffer };

type CaListener = experimental.CaCertificateUpdateListener;
type IdentityListener = experimental.IdentityCertificateUpdateListener;

const REFRESH_INTERVAL_MS = 10_000;

const FILES = [
  ['TLS_CERT_FILE', 'The PEM file of the certificate that the process presents to its peers.'],
  ['TLS_KEY_FILE', 'The PEM file of the key of that certificate.'],
  ['TLS_CA_FILE', 'The PEM file of the authority whose certificates peers must present.'],
] as const;

/** Either all three files are set or none; without them, services use plain text. */
export const CERTIFICATES: Setting<Certificates | undefined> = {
  variables: FILES.flatMap(
    ([name, about]) => setting.string(name, { default: '', about }).variables,
  ),
  read(env) {
    const read = (name: string, fallback?: string) => env.parsed(name, (text) => text, fallback);
    if (FILES.every(([name]) => read(name, '') === '')) return undefined;
    const [cert, key, ca] = FILES.map(([name]) => read(name));
    if (!cert || !key || !ca) return undefined;
    return env.parsed('TLS_CERT_FILE', () => new Certificates({ cert, key, ca }));
  },
};

/** The files cannot be used together; the cause says why. */
export class CertificatesError extends LoggableError {}

/** One set of files. It is read again only while there are listeners; the last usable set is kept. */
export class Certificates implements experimental.CertificateProvider {
  readonly #files: CertificateFiles;
  readonly #refreshMs: number;
  readonly #listeners = new Map<unknown, (pem: Pem) => void>();
  #current: Pem;
  #lastError: CertificatesError | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isRefreshing = false;
  #log: Log | undefined;

  /** Throws a CertificatesError when the files cannot be used. */
  constructor(files: CertificateFiles, refreshMs = REFRESH_INTERVAL_MS) {
    this.#files = files;
    this.#refreshMs = refreshMs;
    try {
      const { cert, key, ca } = files;
      this.#current = requireUsable([readFileSync(cert), readFileSync(key), readFileSync(ca)]);
    } catch (cause) {
      throw unusable(cause);
    }
  }

  get current(): Pem {
    return this.#current;
  }

  /** Calls `listener` with each new set, until the returned function is called. */
  watch(listener: (pem: Pem) => void): () => void {
    this.#add(listener, listener);
    return () => this.#remove(listener);
  }

  /** Logs each change and each failed change, and exports the times of expiry as a metric. */
  observe({ log, metrics }: Pick<Process, 'log' | 'metrics'>): void {
    this.#log = log;
    observeCertificateExpiry(metrics, 'service', () => this.#current.cert);
    observeCertificateExpiry(metrics, 'authority', () => this.#current.ca);
  }

  // The interface of grpc-js. It requires that a new listener is called with the current set, and not
  // before `add…Listener` has returned.

  addCaCertificateListener(listener: CaListener): void {
    const notify = ({ ca }: Pem) => listener({ caCertificate: ca });
    this.#add(listener, notify);
    queueMicrotask(() => notify(this.#current));
  }

  removeCaCertificateListener(listener: CaListener): void {
    this.#remove(listener);
  }

  addIdentityCertificateListener(listener: IdentityListener): void {
    const notify = ({ cert, key }: Pem) => listener({ certificate: cert, privateKey: key });
    this.#add(listener, notify);
    queueMicrotask(() => notify(this.#current));
  }

  removeIdentityCertificateListener(listener: IdentityListener): void {
    this.#remove(listener);
  }

  #add(key: unknown, notify: (pem: Pem) => void): void {
    this.#listeners.set(key, notify);
    if (this.#timer !== undefined) return;
    this.#timer = setInterval(() => void this.#refreshAlone(), this.#refreshMs);
    this.#timer.unref();
    // The files may have changed while there was no listener.
    void this.#refreshAlone();
  }

  #remove(key: unknown): void {
    this.#listeners.delete(key);
    if (this.#listeners.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** One refresh at a time: an earlier one that ended later would bring back what it had read. */
  async #refreshAlone(): Promise<void> {
    if (this.#isRefreshing) return;
    this.#isRefreshing = true;
    try {
      await this.#refresh();
    } finally {
      this.#isRefreshing = false;
    }
  }

  async #refresh(): Promise<void> {
    const { cert, key, ca } = this.#files;
    try {
      const read = await Promise.all([readFile(cert), readFile(key), readFile(ca)]);
      const next = isSame(read, this.#current) ? this.#current : requireUsable(read);
      this.#lastError = undefined;
      if (next === this.#current) return;
      this.#current = next;
    } catch (cause) {
      // Perhaps only part of a new set is written. The next refresh reads the files again.
      const error = unusable(cause);
      const { cause: previousCause } = this.#lastError ?? {};
      this.#lastError = error;
      if (String(previousCause) !== String(cause)) {
        this.#log?.error(
          { err: error },
          'new certificates are not usable; the old ones stay in use',
        );
      }
      return;
    }
    this.#log?.info('certificates changed');
    for (const notify of this.#listeners.values()) notify(this.#current);
  }
}

/** Returns the set. Throws OpenSSL's error when TLS connections cannot use it. */
function requireUsable([cert, key, ca]: readonly [Buffer, Buffer, Buffer]): Pem {
  const pem = { cert, key, ca };
  createSecureContext(pem);
  new X509Certificate(ca);
  return pem;
}

function isSame([cert, key, ca]: readonly [Buffer, Buffer, Buffer], pem: Pem): boolean {
  return cert.equals(pem.cert) && key.equals(pem.key) && ca.equals(pem.ca);
}

function unusable(cause: unknown): CertificatesError {
  const { message } = cause instanceof Error ? cause : { message: 'unknown error' };
  return new CertificatesError(`the certificate, its key or its authority: ${message}`, { cause });
}

/**
 * The certificate by which a process proves itself to its peers, and the authority it believes: PEM
 * files, read again when they change, for new connections on both ends of gRPC and HTTP.
 */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { Process } from '@creditlane/runtime/run';
import { type Setting, setting } from '@creditlane/runtime/setting';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { experimental } from '@grpc/grpc-js';

/** Paths. */
export type CertificateFiles = { cert: string; key: string; ca: string };

/** PEM. `cert` may go on with intermediates; `ca` may hold two authorities while one follows the other. */
export type Pem = { readonly cert: Buffer; readonly key: Buffer; readonly ca: Buffer };

type CaListener = experimental.CaCertificateUpdateListener;
type IdentityListener = experimental.IdentityCertificateUpdateListener;

const REFRESH_MS = 10_000;

const FILES = [
  ['TLS_CERT_FILE', 'The PEM file of the certificate that the process shows to its peers.'],
  ['TLS_KEY_FILE', 'The PEM file of the key of that certificate.'],
  ['TLS_CA_FILE', 'The PEM file of the authority whose certificates peers must show.'],
] as const;

/** The three files are set or none of them: without, services speak plain text to each other. */
export const CERTIFICATES: Setting<Certificates | undefined> = {
  variables: FILES.flatMap(
    ([name, about]) => setting.string(name, { default: '', about }).variables,
  ),
  read(env) {
    if (FILES.every(([name]) => env.string(name, '') === '')) return undefined;
    const [cert, key, ca] = FILES.map(([name]) => env.string(name));
    if (!cert || !key || !ca) return undefined;
    return env.parsed('TLS_CERT_FILE', () => new Certificates({ cert, key, ca }));
  },
};

/** Files that do not make a usable set; the cause says why. */
export class CertificatesError extends Error {
  override readonly name = 'CertificatesError';
  readonly loggable = true;
}

/** One set of files. Looks at them only while somebody listens, and keeps the last usable set. */
export class Certificates implements experimental.CertificateProvider {
  readonly #files: CertificateFiles;
  readonly #refreshMs: number;
  readonly #listeners = new Map<unknown, (pem: Pem) => void>();
  #current: Pem;
  #trouble: CertificatesError | undefined;
  #timer: NodeJS.Timeout | undefined;
  #log: Log | undefined;

  /** Throws a CertificatesError when the files cannot be used. */
  constructor(files: CertificateFiles, refreshMs = REFRESH_MS) {
    this.#files = files;
    this.#refreshMs = refreshMs;
    try {
      const { cert, key, ca } = files;
      this.#current = usable([readFileSync(cert), readFileSync(key), readFileSync(ca)]);
    } catch (cause) {
      throw unusable(cause);
    }
  }

  get current(): Pem {
    return this.#current;
  }

  /** Tells `listener` of each further set, until the function given back is called. */
  watch(listener: (pem: Pem) => void): () => void {
    this.#add(listener, listener);
    return () => this.#remove(listener);
  }

  /** Tells the process's log of each change and of each failure to follow one, and shows the expiry. */
  observe({ log, metrics }: Pick<Process, 'log' | 'metrics'>): void {
    this.#log = log;
    metrics.gauge(
      'tls_certificate_expires_timestamp_seconds',
      'When the certificate shown to peers expires, in seconds since the epoch.',
      [],
      (gauge) => gauge.set(new X509Certificate(this.#current.cert).validToDate.getTime() / 1000),
    );
  }

  // What grpc-js asks of a provider; it expects to be told of the present set in a later turn.

  addCaCertificateListener(listener: CaListener): void {
    const tell = ({ ca }: Pem) => listener({ caCertificate: ca });
    this.#add(listener, tell);
    queueMicrotask(() => tell(this.#current));
  }

  removeCaCertificateListener(listener: CaListener): void {
    this.#remove(listener);
  }

  addIdentityCertificateListener(listener: IdentityListener): void {
    const tell = ({ cert, key }: Pem) => listener({ certificate: cert, privateKey: key });
    this.#add(listener, tell);
    queueMicrotask(() => tell(this.#current));
  }

  removeIdentityCertificateListener(listener: IdentityListener): void {
    this.#remove(listener);
  }

  #add(key: unknown, tell: (pem: Pem) => void): void {
    this.#listeners.set(key, tell);
    if (this.#timer !== undefined) return;
    this.#timer = setInterval(() => void this.#refresh(), this.#refreshMs);
    this.#timer.unref();
    // The files may have changed while nobody listened.
    void this.#refresh();
  }

  #remove(key: unknown): void {
    this.#listeners.delete(key);
    if (this.#listeners.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #refresh(): Promise<void> {
    const { cert, key, ca } = this.#files;
    try {
      const read = await Promise.all([readFile(cert), readFile(key), readFile(ca)]);
      const next = isSame(read, this.#current) ? this.#current : usable(read);
      this.#trouble = undefined;
      if (next === this.#current) return;
      this.#current = next;
    } catch (cause) {
      // Perhaps half of a new set is written; the next look will tell.
      const trouble = unusable(cause);
      const { cause: before } = this.#trouble ?? {};
      this.#trouble = trouble;
      if (String(before) !== String(cause)) this.#log?.error({ err: trouble }, 'certificates kept');
      return;
    }
    this.#log?.info('certificates changed');
    for (const tell of this.#listeners.values()) tell(this.#current);
  }
}

/** The set, if connections can be made with it. Throws what OpenSSL says otherwise. */
function usable([cert, key, ca]: readonly [Buffer, Buffer, Buffer]): Pem {
  const pem = { cert, key, ca };
  createSecureContext(pem);
  new X509Certificate(ca);
  return pem;
}

function isSame([cert, key, ca]: readonly [Buffer, Buffer, Buffer], pem: Pem): boolean {
  return cert.equals(pem.cert) && key.equals(pem.key) && ca.equals(pem.ca);
}

function unusable(cause: unknown): CertificatesError {
  const { message } = cause instanceof Error ? cause : { message: 'unknown trouble' };
  return new CertificatesError(`the certificate, its key or its authority: ${message}`, { cause });
}

/** The certificate that a bureau demands of its clients (mutual TLS): PEM files, which are read for each connection. */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { type Setting, setting } from '@creditlane/runtime/setting';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { LoggableError } from '@creditlane/runtime/telemetry/loggable-error';
import { buildConnector } from 'undici';

/** Paths of PEM files. `cert` may include intermediate certificates. */
export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

type Pem = { readonly cert: Buffer; readonly key: Buffer };

/** The files cannot be used together. */
class ClientCertificateError extends LoggableError {}

/** Both files or none are set; at start they must fit each other. */
export function clientCertificateSetting(bureau: string): Setting<CertificateFiles | undefined> {
  const [certName, keyName] = [`${bureau}_TLS_CERT_FILE`, `${bureau}_TLS_KEY_FILE`] as const;
  const files = [
    [certName, 'The PEM file of the certificate that the bureau demands of its clients, if any.'],
    [keyName, 'The PEM file of the key of that certificate. New connections use the new files.'],
  ] as const;
  return {
    variables: files.flatMap(
      ([name, about]) => setting.string(name, { default: '', about }).variables,
    ),
    read(env) {
      const read = (name: string, fallback?: string) => env.parsed(name, (text) => text, fallback);
      if (files.every(([name]) => read(name, '') === '')) return undefined;
      const [cert, key] = [read(certName), read(keyName)];
      if (!cert || !key) return undefined;
      return env.parsed(certName, () => {
        requireUsable(() => ({ cert: readFileSync(cert), key: readFileSync(key) }));
        return { cert, key };
      });
    },
  };
}

/**
 * Connects with the certificate that the files hold then: a bureau's certificates are replaced before they end, while
 * inquiries go on. A connection is made every few seconds at most, so reading two small files for each is cheap. While
 * they cannot be used, such as between the replacement of one and of the other, the last certificate is.
 */
export function connectorWithCertificate(
  files: CertificateFiles,
  options: buildConnector.BuildOptions,
  log: Log,
): buildConnector.connector {
  let current: (Pem & { connect: buildConnector.connector }) | undefined;
  const load = async () => {
    const [cert, key] = await Promise.all([readFile(files.cert), readFile(files.key)]);
    if (current?.cert.equals(cert) && current.key.equals(key)) return;
    const pem = requireUsable(() => ({ cert, key }));
    current = { ...pem, connect: buildConnector({ ...options, ...pem }) };
  };
  return (target, callback) => {
    void load()
      .catch((err) => log.warn({ err }, 'the certificate for a bureau cannot be used'))
      .then(() => {
        if (current !== undefined) current.connect(target, callback);
        else callback(new ClientCertificateError('there is no certificate for the bureau'), null);
      });
  };
}

function requireUsable(read: () => Pem): Pem {
  try {
    const pem = read();
    createSecureContext(pem);
    return pem;
  } catch {
    // OpenSSL's message may quote the file.
    throw new ClientCertificateError('must be PEM files of a certificate and of its key');
  }
}

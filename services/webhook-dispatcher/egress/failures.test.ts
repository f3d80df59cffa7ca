import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import {
  createServer,
  getCACertificates,
  setDefaultCACertificates,
  type TlsOptions,
} from 'node:tls';
import { TestCertificateAuthority } from '@creditlane/runtime/test-certificate-authority';
import { describe, expect, onTestFinished, test } from 'vitest';
import { reasonOf, sentenceOf } from './failures.ts';
import { egress, post } from './test-egress.ts';

/** Two authorities, of which the egress trusts the first. */
function authorities() {
  const trusted = new TestCertificateAuthority();
  const usual = getCACertificates();
  onTestFinished(() => setDefaultCACertificates(usual));
  setDefaultCACertificates([...usual, readFileSync(trusted.issue().ca, 'utf8')]);
  return { trusted, unknown: new TestCertificateAuthority() };
}

type Files = { cert: string; key: string };
const pemOf = ({ cert, key }: Files): TlsOptions => ({
  cert: readFileSync(cert),
  key: readFileSync(key),
});

const TLS_1_1 = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1' } as const;
const DEMAND = { requestCert: true, rejectUnauthorized: true };

/** What the receiver does, how its TLS is set up, and the word for it. */
const HANDSHAKES: [string, (of: ReturnType<typeof authorities>) => TlsOptions, string][] = [
  [
    'demands a client certificate in TLS 1.3',
    ({ trusted }) => ({ ...pemOf(trusted.issue()), ...DEMAND, minVersion: 'TLSv1.3' }),
    'tls_client_certificate_required',
  ],
  [
    'demands a client certificate in TLS 1.2',
    ({ trusted }) => ({ ...pemOf(trusted.issue()), ...DEMAND, maxVersion: 'TLSv1.2' }),
    'tls_handshake_refused',
  ],
  [
    'speaks TLS 1.1 alone',
    ({ trusted }) => ({ ...pemOf(trusted.issue()), ...TLS_1_1, ciphers: 'DEFAULT@SECLEVEL=0' }),
    'tls_version_refused',
  ],
  [
    'speaks HTTP/2 alone',
    ({ trusted }) => ({ ...pemOf(trusted.issue()), ALPNProtocols: ['h2'] }),
    'tls_handshake_refused',
  ],
  [
    'has a certificate of another name',
    ({ trusted }) => pemOf(trusted.issue('DNS:other.example.com')),
    'tls_name_mismatch',
  ],
  [
    'has a certificate that has expired',
    ({ trusted }) => pemOf(trusted.issue(undefined, 0)),
    'tls_certificate_expired',
  ],
  [
    'has a certificate that it has signed itself',
    ({ unknown }) => {
      const { ca } = unknown.issue();
      return pemOf({ cert: ca, key: ca.replace(/crt$/, 'key') });
    },
    'tls_certificate_self_signed',
  ],
  [
    'has a certificate of an authority that is not trusted',
    ({ unknown }) => pemOf(unknown.issue()),
    'tls_authority_unknown',
  ],
  [
    'sends the authority, too, that is not trusted',
    ({ unknown }) => {
      const files = unknown.issue();
      const chain = [files.cert, files.ca].map((file) => readFileSync(file, 'utf8'));
      return { ...pemOf(files), cert: chain.join('') };
    },
    'tls_authority_unknown',
  ],
];

async function postTo(server: Server) {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise((resolve) => void server.close(() => resolve())));
  const { port } = server.address() as AddressInfo;
  return egress().post({ ...post, destinationUrl: `https://localhost:${port}` });
}

describe('a receiver that', () => {
  test.each(HANDSHAKES)('%s: the attempt fails with a word of ours', async (_, setUp, reason) => {
    let bytes = 0;
    const server = createServer(setUp(authorities()), (socket) => {
      socket.on('data', (data) => {
        bytes += data.length;
      });
    });
    expect(await postTo(server)).toEqual({ kind: 'failed', reason });
    expect(bytes).toBe(0);
  });

  test('does not speak TLS: the attempt fails with a word of ours', async () => {
    const server = createTcpServer((socket) => {
      socket.on('error', () => {});
      socket.resume().end('HTTP/1.1 400 Bad Request\r\n\r\n');
    });
    expect(await postTo(server)).toEqual({ kind: 'failed', reason: 'tls_not_spoken' });
  });
});

test.each([
  ['CERT_NOT_YET_VALID', 'tls_certificate_not_yet_valid'],
  ['CERT_SIGNATURE_FAILURE', 'tls_certificate_invalid'],
  ['INVALID_PURPOSE', 'tls_certificate_invalid'],
  ['UNSPECIFIED', 'tls_certificate_invalid'],
  ['ERR_SSL_EE_KEY_TOO_SMALL', 'tls_certificate_invalid'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'tls_authority_unknown'],
  ['ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE', 'tls_client_certificate_required'],
  ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'tls_client_certificate_required'],
  ['ERR_SSL_UNSUPPORTED_PROTOCOL', 'tls_version_refused'],
  ['ERR_SSL_TLSV1_UNRECOGNIZED_NAME', 'tls_name_unknown'],
  ['ERR_SSL_SSLV3_ALERT_BAD_RECORD_MAC', 'tls_failed'],
  ['ECONNRESET', 'econnreset'],
])('an error with the code %s is the failure %s, which has a sentence', (code, reason) => {
  expect(reasonOf(Object.assign(new Error('of OpenSSL'), { code }))).toBe(reason);
  expect(sentenceOf(reason)).toMatch(/^[A-Z].+\.$/);
});

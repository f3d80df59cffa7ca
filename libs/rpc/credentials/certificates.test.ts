// Who may speak to whom where services have certificates, and that new ones need no restart.
import { readFileSync } from 'node:fs';
import { type ConnectionOptions, connect as dial } from 'node:tls';
import { DecisionsService } from '@creditlane/proto/decisions/v1/decisions_service';
import { readEnv } from '@creditlane/runtime/env';
import {
  replaceFile,
  replaceFiles,
  TestCertificateAuthority,
} from '@creditlane/runtime/test-certificate-authority';
import { createTestProcess } from '@creditlane/runtime/test-process';
import { describe, expect, onTestFinished, test } from 'vitest';
import { connect, type Endpoint } from '../client.ts';
import { TokenSigner } from '../identity.ts';
import {
  REQUEST,
  refused,
  startTestService,
  TEST_INTEGRATION,
  TEST_KEYS,
} from '../test-service.ts';
import { CERTIFICATES, Certificates } from './certificates.ts';

const REFRESH_MS = 10;
const SOON = { timeout: 10_000 };
const context = { identity: TEST_INTEGRATION };

/** Calls a target once, over a connection of its own. */
async function callOnce(target: Endpoint) {
  const process = createTestProcess('test');
  onTestFinished(() => process.closers.close());
  const { privateKey } = TEST_KEYS.gateway;
  const signer = new TokenSigner({ issuer: 'gateway', privateKey });
  const options = { signer, audience: 'decisions', timeoutMs: 5_000, closers: process.closers };
  return connect(DecisionsService, target, options).getDecision(REQUEST, context);
}

describe.each(['grpc', 'http'] as const)('over %s', (mount) => {
  async function open(authority = new TestCertificateAuthority()) {
    const files = authority.issue();
    const certificates = new Certificates(files, REFRESH_MS);
    const world = await startTestService(mount, { certificates });
    return { ...world, files, authority, certificates };
  }
  const portOf = (target: Endpoint) =>
    target.kind === 'grpc'
      ? Number(target.address.split(':')[1])
      : Number(target.kind === 'http' && new URL(target.baseUrl).port);

  test('services of one authority speak to each other', async () => {
    const { target, authority } = await open();
    const certificates = new Certificates(authority.issue());
    expect(await callOnce({ ...target, certificates } as Endpoint)).toBeDefined();
  });

  test('a caller without a certificate is turned away, in plain text or not', async () => {
    const { target, handled, authority } = await open();
    const port = portOf(target);
    const plain: Endpoint =
      mount === 'grpc'
        ? { kind: 'grpc', address: `127.0.0.1:${port}` }
        : { kind: 'http', baseUrl: `http://127.0.0.1:${port}` };
    expect(await refused(callOnce(plain))).toMatchObject({ kind: 'unavailable' });
    const ca = readFileSync(authority.issue().ca);
    await expect(handshake(port, { ca })).rejects.toThrow(/certificate required/);
    expect(handled).toEqual([]);
  });

  test('services of two authorities do not speak to each other', async () => {
    const { target, handled } = await open();
    const certificates = new Certificates(new TestCertificateAuthority().issue());
    await refused(callOnce({ ...target, certificates } as Endpoint));
    expect(handled).toEqual([]);
  });

  test('a new certificate is shown to new connections, and the old ones go on', async () => {
    const { target, decisions, authority, files } = await open();
    const shown = () =>
      handshake(portOf(target), { ...new Certificates(files).current, checkServerIdentity });
    await decisions.getDecision(REQUEST, context);
    expect(await shown()).toBe('01');
    replaceFiles(files, authority.issue());
    await expect.poll(shown, SOON).toBe('02');
    await decisions.getDecision(REQUEST, context);
  });

  test('a new authority takes over on both ends without a restart', async () => {
    const { target, files, certificates } = await open();
    const stranger = new Certificates(new TestCertificateAuthority().issue());
    await callOnce(target);
    const next = new TestCertificateAuthority();
    const issued = next.issue();
    replaceFiles(files, issued);
    await expect
      .poll(() => certificates.current.ca.equals(readFileSync(issued.ca)), SOON)
      .toBe(true);
    // The server's own certificates and a newcomer's; who has another authority stays outside.
    await callOnce(target);
    await callOnce({ ...target, certificates: new Certificates(next.issue()) } as Endpoint);
    await refused(callOnce({ ...target, certificates: stranger } as Endpoint));
  });
});

test('half of a new set is not taken: the last usable one stays, and the log says why', async () => {
  const authority = new TestCertificateAuthority();
  const files = authority.issue();
  const certificates = new Certificates(files, REFRESH_MS);
  const lines: string[] = [];
  const process = createTestProcess('test', { write: (line) => lines.push(line) });
  certificates.observe(process);
  onTestFinished(certificates.watch(() => {}));
  const before = certificates.current;

  const next = authority.issue();
  replaceFile(files.cert, next.cert);
  await expect.poll(() => lines.join(''), SOON).toContain('certificates kept');
  expect(certificates.current).toBe(before);
  replaceFile(files.key, next.key);
  await expect.poll(() => certificates.current.key, SOON).toEqual(readFileSync(next.key));
  expect(lines.filter((line) => line.includes('certificates kept'))).toHaveLength(1);
  expect(lines.join('')).not.toContain('PRIVATE');
  expect(await process.metrics.text()).toMatch(/tls_certificate_expires_timestamp_seconds \d{10}/);
});

describe('the configuration', () => {
  const envOf = ({ cert, key, ca }: { cert: string; key: string; ca: string }) => ({
    TLS_CERT_FILE: cert,
    TLS_KEY_FILE: key,
    TLS_CA_FILE: ca,
  });

  test('names three files, or none for plain text', () => {
    const env = envOf(new TestCertificateAuthority().issue());
    expect(readEnv(env, CERTIFICATES.read)).toBeInstanceOf(Certificates);
    expect(readEnv({}, CERTIFICATES.read)).toBeUndefined();
    const { TLS_KEY_FILE: _, ...without } = env;
    expect(() => readEnv(without, CERTIFICATES.read)).toThrow('TLS_KEY_FILE: missing');
  });

  test('is refused when the files do not belong together', () => {
    const authority = new TestCertificateAuthority();
    const files = { ...authority.issue(), key: authority.issue().key };
    expect(() => readEnv(envOf(files), CERTIFICATES.read)).toThrow(/TLS_CERT_FILE: .*mismatch/);
    const missing = { ...files, ca: `${files.ca}.gone` };
    expect(() => readEnv(envOf(missing), CERTIFICATES.read)).toThrow(/TLS_CERT_FILE: .*ENOENT/);
  });
});

const checkServerIdentity = () => undefined;

/** The serial number of the certificate that a server shows to a new connection. */
function handshake(port: number, options: ConnectionOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = dial({ host: '127.0.0.1', port, ALPNProtocols: ['h2', 'http/1.1'], ...options });
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      // Whether the server likes the client's certificate shows only once it sends something.
      const { serialNumber } = socket.getPeerCertificate();
      if (options.cert === undefined) return;
      socket.destroy();
      resolve(serialNumber);
    });
  });
}

// TLS between services: who may connect, and that new certificates need no restart.
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
import { connect } from '../client.ts';
import type { Endpoint } from '../endpoint.ts';
import { TokenSigner } from '../identity.ts';
import {
  faultOf,
  GET_DECISION,
  startTestService,
  TEST_INTEGRATION,
  TEST_KEYS,
} from '../test-service.ts';
import { CERTIFICATES, Certificates } from './certificates.ts';

const REFRESH_MS = 10;
const context = { identity: TEST_INTEGRATION };

/** Makes one call over a new connection. */
async function callOnce(endpoint: Endpoint) {
  const process = createTestProcess('test');
  onTestFinished(() => process.closers.close());
  const { privateKey } = TEST_KEYS.gateway;
  const signer = new TokenSigner({ issuer: 'gateway', privateKey });
  const options = { signer, audience: 'decisions', timeoutMs: 5_000, closers: process.closers };
  return connect(DecisionsService, endpoint, options).getDecision(GET_DECISION, context);
}

describe.each(['grpc', 'http'] as const)('over %s', (mount) => {
  async function open(authority = new TestCertificateAuthority()) {
    const files = authority.issue();
    const certificates = new Certificates(files, REFRESH_MS);
    const server = await startTestService(mount, { certificates });
    return { ...server, files, authority, certificates };
  }

  test('a client with a certificate of the same authority may connect', async () => {
    const { endpointWith, authority } = await open();
    const certificates = new Certificates(authority.issue());
    expect(await callOnce(endpointWith(certificates))).toBeDefined();
  });

  test('a client without a certificate may not connect, with TLS or in plain text', async () => {
    const { endpointWith, port, handled, authority } = await open();
    const plain = endpointWith(undefined);
    expect(await faultOf(callOnce(plain))).toMatchObject({ kind: 'unavailable' });
    const ca = readFileSync(authority.issue().ca);
    await expect(handshake(port, { ca })).rejects.toThrow(/certificate required/);
    expect(handled).toEqual([]);
  });

  test('a client with a certificate of another authority may not connect', async () => {
    const { endpointWith, handled } = await open();
    const certificates = new Certificates(new TestCertificateAuthority().issue());
    await faultOf(callOnce(endpointWith(certificates)));
    expect(handled).toEqual([]);
  });

  test('new connections get a new certificate, and old connections stay open', async () => {
    const { port, decisions, authority, files } = await open();
    const shown = () =>
      handshake(port, { ...new Certificates(files).current, checkServerIdentity });
    await decisions.getDecision(GET_DECISION, context);
    expect(await shown()).toBe('01');
    replaceFiles(files, authority.issue());
    await expect.poll(shown).toBe('02');
    await decisions.getDecision(GET_DECISION, context);
  });

  test('a new authority is used by servers and clients without a restart', async () => {
    const { endpointWith, files, certificates } = await open();
    const stranger = new Certificates(new TestCertificateAuthority().issue());
    await callOnce(endpointWith(certificates));
    const next = new TestCertificateAuthority();
    const issued = next.issue();
    replaceFiles(files, issued);
    await expect.poll(() => certificates.current.ca.equals(readFileSync(issued.ca))).toBe(true);
    // A client with the server's own certificates, a new client, and one of another authority.
    await callOnce(endpointWith(certificates));
    await callOnce(endpointWith(new Certificates(next.issue())));
    await faultOf(callOnce(endpointWith(stranger)));
  });
});

test('files that do not belong together: the last usable set stays, and the log says why', async () => {
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
  await expect.poll(() => lines.join('')).toContain('the old ones stay in use');
  expect(certificates.current).toBe(before);
  replaceFile(files.key, next.key);
  await expect.poll(() => certificates.current.key).toEqual(readFileSync(next.key));
  expect(lines.filter((line) => line.includes('the old ones stay in use'))).toHaveLength(1);
  expect(lines.join('')).not.toContain('PRIVATE');
  const metrics = await process.metrics.text();
  for (const certificate of ['service', 'authority'])
    expect(metrics).toMatch(
      new RegExp(`_expires_timestamp_seconds\\{certificate="${certificate}"\\} \\d{10}`),
    );
});

describe('the configuration', () => {
  const envOf = ({ cert, key, ca }: { cert: string; key: string; ca: string }) => ({
    TLS_CERT_FILE: cert,
    TLS_KEY_FILE: key,
    TLS_CA_FILE: ca,
  });

  test('has three files, or none for plain text', () => {
    const env = envOf(new TestCertificateAuthority().issue());
    expect(readEnv(env, CERTIFICATES.read)).toBeInstanceOf(Certificates);
    expect(readEnv({}, CERTIFICATES.read)).toBeUndefined();
    const { TLS_KEY_FILE: _, ...without } = env;
    expect(() => readEnv(without, CERTIFICATES.read)).toThrow('TLS_KEY_FILE: missing');
  });

  test('is not valid when the files do not belong together', () => {
    const authority = new TestCertificateAuthority();
    const files = { ...authority.issue(), key: authority.issue().key };
    expect(() => readEnv(envOf(files), CERTIFICATES.read)).toThrow(/TLS_CERT_FILE: .*mismatch/);
    const missing = { ...files, ca: `${files.ca}.gone` };
    expect(() => readEnv(envOf(missing), CERTIFICATES.read)).toThrow(/TLS_CERT_FILE: .*ENOENT/);
  });
});

const checkServerIdentity = () => undefined;

/** The serial number of the certificate that a server presents to a new connection. */
function handshake(port: number, options: ConnectionOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = dial({ host: '127.0.0.1', port, ALPNProtocols: ['h2', 'http/1.1'], ...options });
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      // The server rejects a missing client certificate after the handshake, as an error event.
      const { serialNumber } = socket.getPeerCertificate();
      if (options.cert === undefined) return;
      socket.destroy();
      resolve(serialNumber);
    });
  });
}

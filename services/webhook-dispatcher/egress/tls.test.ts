import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { readSettings } from '@creditlane/runtime/setting';
import { TestCertificateAuthority } from '@creditlane/runtime/test-certificate-authority';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { SETTINGS } from '../settings.ts';
import { Egress } from './egress.ts';
import { NEVER_MS } from './test-egress.ts';

const HOUR_MS = 3_600_000;
/** How long the test authority's certificates are valid. */
const CERTIFICATE_MS = 24 * HOUR_MS;

let egress: Egress;
let server: Server;
afterEach(() => void vi.useRealTimers());

/** A receiver by TLS, and how each of its connections began. */
async function start({ isTrusted = true, keepsConnections = true, egressCa = '' } = {}) {
  const { cert, key, ca } = new TestCertificateAuthority().issue();
  const usual = getCACertificates();
  onTestFinished(() => setDefaultCACertificates(usual));
  if (isTrusted) setDefaultCACertificates([...usual, readFileSync(ca, 'utf8')]);
  const { authorities } = readSettings(
    { EGRESS_CA: egressCa === 'its own' ? readFileSync(ca, 'utf8') : egressCa },
    { authorities: SETTINGS.authorities },
  );
  const handshakes: string[] = [];
  const bodies: string[] = [];
  const tls = { cert: readFileSync(cert), key: readFileSync(key), keepAliveTimeout: NEVER_MS };
  server = createServer(tls, async (request, response) => {
    bodies.push(Buffer.concat(await request.toArray()).toString());
    response.writeHead(200, keepsConnections ? {} : { connection: 'close' }).end('ok');
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    handshakes.push(socket.isSessionReused() ? 'resumed' : 'full');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  egress = new Egress({
    allowHttp: false,
    allowLoopback: true,
    ports: [(server.address() as AddressInfo).port],
    deadlineMs: NEVER_MS,
    connectionsPerDestination: 1,
    maxIdleConnections: 1,
    authorities,
  });
  onTestFinished(async () => {
    await egress.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const post = (hostname: string, body = '{}') =>
    egress.post({
      destinationId: 'a',
      destinationUrl: `https://${hostname}:${(server.address() as AddressInfo).port}`,
      path: '/webhook',
      headers: {},
      body,
    });
  return { post, handshakes, bodies };
}

test.each(['localhost', '127.0.0.1'])('posts by TLS to %s on one connection', async (hostname) => {
  const { post, handshakes, bodies } = await start();
  // The second body needs several TLS records.
  const sent = ['{}', `"${'é'.repeat(40_000)}"`, '{}'];
  for (const body of sent) {
    expect(await post(hostname, body)).toEqual({ kind: 'answered', status: 200 });
  }
  expect(bodies).toEqual(sent);
  expect(handshakes).toEqual(['full']);
});

test('resumes the TLS session of the previous connection', async () => {
  const { post, handshakes } = await start({ keepsConnections: false });
  await post('localhost');
  await post('localhost');
  expect(handshakes).toEqual(['full', 'resumed']);
});

test.each([
  ['an hour after its certificate was seen', { startMs: 0, afterMs: HOUR_MS + 1_000 }],
  ['when its certificate has ended', { startMs: CERTIFICATE_MS - 60_000, afterMs: 61_000 }],
])('resumes no session %s', async (_, { startMs, afterMs }) => {
  const { post, handshakes } = await start({ keepsConnections: false });
  const firstMs = Date.now() + startMs;
  vi.useFakeTimers({ toFake: ['Date'], now: firstMs });
  await post('localhost');
  // A session that is continued has new tickets, which end no later.
  vi.setSystemTime(firstMs + afterMs / 2);
  await post('localhost');
  vi.setSystemTime(firstMs + afterMs);
  await post('localhost');
  expect(handshakes).toEqual(['full', 'resumed', 'full']);
});

test('closes a connection whose certificate has ended after its exchange', async () => {
  const { post, handshakes } = await start();
  const endMs = Date.now() + CERTIFICATE_MS;
  vi.useFakeTimers({ toFake: ['Date'], now: endMs - 60_000 });
  await post('localhost');
  vi.setSystemTime(endMs + 1_000);
  await post('localhost');
  await post('localhost');
  expect(handshakes).toEqual(['full', 'full']);
});

test.each(['1', '0'])(
  'sends nothing to a receiver whose certificate is not trusted, with NODE_TLS_REJECT_UNAUTHORIZED=%s',
  async (rejects) => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', rejects);
    const { post, bodies } = await start({ isTrusted: false });
    expect(await post('localhost')).toEqual({ kind: 'failed', reason: 'tls_authority_unknown' });
    expect(bodies).toEqual([]);
  },
);

test('sends nothing to a receiver whose certificate has another name', async () => {
  const { post, bodies } = await start();
  const resolve = async () => ['127.0.0.1'];
  await egress.close();
  const port = (server.address() as AddressInfo).port;
  egress = new Egress({
    allowHttp: false,
    allowLoopback: true,
    ports: [port],
    deadlineMs: NEVER_MS,
    connectionsPerDestination: 1,
    maxIdleConnections: 1,
    resolve,
  });
  expect(await post('hooks.example.com')).toEqual({
    kind: 'failed',
    reason: 'tls_name_mismatch',
  });
  expect(bodies).toEqual([]);
});

describe('with authorities in EGRESS_CA', () => {
  test('posts to receivers whose certificates are of one of them, and resumes their sessions', async () => {
    const { post, handshakes } = await start({
      isTrusted: false,
      keepsConnections: false,
      egressCa: 'its own',
    });
    for (let n = 0; n < 2; n += 1) expect(await post('localhost')).toMatchObject({ status: 200 });
    expect(handshakes).toEqual(['full', 'resumed']);
  });

  test('posts to receivers whose certificates are of another that Node trusts', async () => {
    const other = readFileSync(new TestCertificateAuthority().issue().ca, 'utf8');
    const { post } = await start({ egressCa: other });
    expect(await post('localhost')).toMatchObject({ status: 200 });
  });

  test('posts to no receiver whose certificate is of none of both', async () => {
    const other = readFileSync(new TestCertificateAuthority().issue().ca, 'utf8');
    const { post, bodies } = await start({ isTrusted: false, egressCa: other });
    expect(await post('localhost')).toEqual({ kind: 'failed', reason: 'tls_authority_unknown' });
    expect(bodies).toEqual([]);
  });

  test.each(['authority', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'])(
    'refuses to start with the PEM %j',
    (pem) => {
      const read = () => readSettings({ EGRESS_CA: pem }, { authorities: SETTINGS.authorities });
      expect(read).toThrow('EGRESS_CA: must be certificates in PEM');
    },
  );
});

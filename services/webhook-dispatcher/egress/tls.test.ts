import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { TestCertificateAuthority } from '@creditlane/runtime/test-certificate-authority';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { Egress } from './egress.ts';

let egress: Egress;
let server: Server;
afterEach(async () => {
  await egress.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** A receiver by TLS, and how each of its connections began. */
async function start({ isTrusted = true, keepsConnections = true } = {}) {
  const { cert, key, ca } = new TestCertificateAuthority().issue();
  const usual = getCACertificates();
  onTestFinished(() => setDefaultCACertificates(usual));
  if (isTrusted) setDefaultCACertificates([...usual, readFileSync(ca, 'utf8')]);
  const handshakes: string[] = [];
  const bodies: string[] = [];
  const tls = { cert: readFileSync(cert), key: readFileSync(key) };
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
    deadlineMs: 5_000,
    connectionsPerDestination: 1,
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

it.each(['localhost', '127.0.0.1'])('posts by TLS to %s on one connection', async (hostname) => {
  const { post, handshakes, bodies } = await start();
  // The second body needs several TLS records.
  const sent = ['{}', `"${'é'.repeat(40_000)}"`, '{}'];
  for (const body of sent) {
    expect(await post(hostname, body)).toEqual({ kind: 'answered', status: 200 });
  }
  expect(bodies).toEqual(sent);
  expect(handshakes).toEqual(['full']);
});

it('resumes the TLS session of the previous connection', async () => {
  const { post, handshakes } = await start({ keepsConnections: false });
  await post('localhost');
  await post('localhost');
  expect(handshakes).toEqual(['full', 'resumed']);
});

it('sends nothing to a receiver whose certificate is not trusted', async () => {
  const { post, bodies } = await start({ isTrusted: false });
  expect(await post('localhost')).toMatchObject({ kind: 'failed' });
  expect(bodies).toEqual([]);
});

it('sends nothing to a receiver whose certificate has another name', async () => {
  const { post, bodies } = await start();
  const resolve = async () => ['127.0.0.1'];
  await egress.close();
  const port = (server.address() as AddressInfo).port;
  egress = new Egress({
    allowHttp: false,
    allowLoopback: true,
    ports: [port],
    deadlineMs: 5_000,
    connectionsPerDestination: 1,
    resolve,
  });
  expect(await post('hooks.example.com')).toEqual({
    kind: 'failed',
    reason: 'err_tls_cert_altname_invalid',
  });
  expect(bodies).toEqual([]);
});

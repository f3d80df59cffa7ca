/** For the tests: a process with a port for each hostile answer, and for an ordinary one with and without TLS. */
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { type HostileAnswer, HTTP_ANSWERS, ORDINARY_ANSWER, TLS_ANSWERS } from './test-answers.ts';
import { CIPHER_SUITE, TlsRecords } from './test-tls-records.ts';

const [certFile = '', keyFile = ''] = process.argv.slice(2);
const CERT = readFileSync(certFile, 'utf8');
const KEY = readFileSync(keyFile, 'utf8');
const END_OF_HEAD = '\r\n\r\n';

function httpServer({ at, send }: HostileAnswer): Server {
  return createServer({ noDelay: true }, (stream) => {
    stream.on('error', () => {});
    if (at === 'connection') return send({ stream });
    stream.on('data', (data) => {
      if (data.includes(END_OF_HEAD)) send({ stream });
    });
  });
}

function tlsServer(answer: HostileAnswer): Server {
  const secureContext = createSecureContext({
    cert: CERT.repeat(answer.certificates ?? 1),
    key: KEY,
    ciphers: CIPHER_SUITE,
    minVersion: 'TLSv1.3',
  });
  return createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => {});
    if (answer.at === 'connection') answer.send({ stream: socket });
    else answerByTls(socket, new TLSSocket(socket, { isServer: true, secureContext }), answer);
  });
}

function answerByTls(socket: Socket, stream: TLSSocket, { send }: HostileAnswer): void {
  let secret = '';
  stream.on('keylog', (line: Buffer) => {
    secret = /^SERVER_TRAFFIC_SECRET_0 \S+ (\S+)/.exec(line.toString())?.[1] ?? secret;
  });
  stream.on('error', () => {});
  stream.on('data', (data) => {
    if (!data.includes(END_OF_HEAD)) return;
    send({ stream, records: new TlsRecords(socket, Buffer.from(secret, 'hex')) });
  });
}

const servers = {
  ...Object.fromEntries(
    Object.entries(HTTP_ANSWERS).map(([name, answer]) => [name, httpServer(answer)]),
  ),
  ...Object.fromEntries(
    Object.entries(TLS_ANSWERS).map(([name, answer]) => [name, tlsServer(answer)]),
  ),
  'http:': httpServer(ORDINARY_ANSWER),
  'https:': tlsServer(ORDINARY_ANSWER),
};
const ports: Record<string, number> = {};
for (const [name, server] of Object.entries(servers)) {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ports[name] = (server.address() as AddressInfo).port;
}
process.on('disconnect', () => process.exit());
process.send?.(ports);

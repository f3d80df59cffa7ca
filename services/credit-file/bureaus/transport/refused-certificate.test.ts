import { once } from 'node:events';
import { Duplex } from 'node:stream';
import type { buildConnector } from 'undici';
import { expect, test } from 'vitest';
import { isCertificateRefused, watchRefusals } from './refused-certificate.ts';

const REQUIRED = 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED';

/** A connection that ends with an error of the code, after what `before` does to it. */
async function endWith(code: string, protocol: string, before: (socket: Duplex) => unknown) {
  const socket = Object.assign(new Duplex({ read() {} }), { getProtocol: () => protocol });
  const connect = watchRefusals((_, callback) => callback(null, socket as never));
  connect({} as buildConnector.Options, () => {});
  await before(socket);
  const error = Object.assign(new Error('ended'), { code });
  const closed = new Promise((resolve) => socket.on('error', () => {}).once('close', resolve));
  socket.destroy(error);
  await closed;
  return isCertificateRefused(error);
}

test.each<[string, string, string, (socket: Duplex) => unknown, boolean]>([
  ['the lack of a certificate', REQUIRED, 'TLSv1.3', () => {}, true],
  ['a certificate', 'ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED', 'TLSv1.3', () => {}, true],
  ['another alert', 'ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR', 'TLSv1.3', () => {}, false],
  ['a reset', 'ECONNRESET', 'TLSv1.3', () => {}, false],
  ['a renegotiation', REQUIRED, 'TLSv1.2', () => {}, false],
  ['after a session ticket', REQUIRED, 'TLSv1.3', (socket) => socket.emit('session'), false],
  ['right after the first byte', REQUIRED, 'TLSv1.3', (socket) => socket.push('H'), false],
  [
    'after an answer that was read',
    REQUIRED,
    'TLSv1.3',
    async (socket) => {
      socket.push('H');
      await once(socket, 'readable');
      socket.read();
    },
    false,
  ],
])('an end for %s, %s in %s → refused in the handshake or not', async (...args) => {
  const [, code, protocol, before, isRefused] = args;
  expect(await endWith(code, protocol, before)).toBe(isRefused);
});

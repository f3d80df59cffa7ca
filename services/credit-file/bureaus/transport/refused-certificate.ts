/** Recognises a handshake that a bureau ends for the client's certificate, or for the lack of one. */
import type { buildConnector } from 'undici';

/** Node's codes of the alerts by which a server refuses a client's certificate. */
const CERTIFICATE_REFUSED =
  /^ERR_SSL_.*_ALERT_(CERTIFICATE_(REQUIRED|EXPIRED|REVOKED|UNKNOWN)|(BAD|UNSUPPORTED)_CERTIFICATE|UNKNOWN_CA)$/;

const refusals = new WeakSet<Error>();

/**
 * Whether the error, of a connection of `watchRefusals`, ended a handshake of TLS 1.3 in which the client had already
 * written its request: the bureau has read nothing of that request.
 */
export function isCertificateRefused(error: Error): boolean {
  return refusals.has(error);
}

/**
 * Connects as `connect` does. In TLS 1.3 the request may be written before the bureau has checked the certificate. In
 * TLS 1.2 the certificate is checked before the connection is open, and an alert on an open one ends a renegotiation,
 * in which the bureau may have read the request.
 */
export function watchRefusals(connect: buildConnector.connector): buildConnector.connector {
  return (target, callback) =>
    connect(target, (...args) => {
      const [, socket] = args;
      if (socket && 'getProtocol' in socket && socket.getProtocol() === 'TLSv1.3') watch(socket);
      callback(...args);
    });
}

/** Before undici listens to the socket, so that an error is judged before undici reports it. */
function watch(socket: NonNullable<buildConnector.CallbackArgs[1]>): void {
  let isAccepted = false;
  const accept = () => {
    isAccepted = true;
  };
  // A session ticket, like the first byte of an answer, comes after the server has accepted the client's handshake.
  socket.on('session', accept).on('readable', accept);
  socket.on('error', (error) => {
    // The bytes before the alert may be there without an event of their own.
    if (isAccepted || socket.readableLength > 0) return;
    if (!('code' in error && CERTIFICATE_REFUSED.test(String(error.code)))) return;
    refusals.add(error);
    // Node leaves the connection open, and undici would wait until the bureau has closed it.
    socket.destroy();
  });
}

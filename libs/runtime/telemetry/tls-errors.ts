/** Errors of TLS connections, by their codes. */

/** Node's codes of failed handshakes, and OpenSSL's of certificates that it does not accept. */
const TLS_ERROR = /TLS|SSL|CERT|UNABLE_TO|CRL|HOSTNAME_MISMATCH|PATH_LENGTH|PURPOSE/;

/** Whether a connection failed in TLS: in its handshake, or because of the certificate or the name in it. */
export function isTlsError(error: Error): boolean {
  return 'code' in error && typeof error.code === 'string' && TLS_ERROR.test(error.code);
}

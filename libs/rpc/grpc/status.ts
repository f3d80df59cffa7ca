/** Errors in the form of gRPC: a status, with google.rpc.Status and its details in the trailer. */
import { Code, ConnectError } from '@connectrpc/connect';
import { findTrailerError, setTrailerStatus } from '@connectrpc/connect/protocol-grpc';
import { Metadata, type StatusObject, status } from '@grpc/grpc-js';

const STATUS = 'grpc-status';
const DETAILS = 'grpc-status-details-bin';

/** grpc-js's message for a stream that the peer refused before it processed it (RFC 9113, 8.7). */
export const STREAM_REFUSED = 'Stream refused by server';

/** Parts of grpc-js's messages for a stream that ended without an answer, because the peer or the system ended it. */
const NO_ANSWER = /Call ended without gRPC status|triggered by internal client error/;

/** The gRPC status of an error. Connect and gRPC number their codes alike. */
export function grpcStatusOf(error: ConnectError): StatusObject {
  const metadata = new Metadata();
  const details = setTrailerStatus(new Headers(), error).get(DETAILS);
  if (details !== null) metadata.set(DETAILS, Buffer.from(details, 'base64'));
  return { code: error.code as number, details: error.rawMessage, metadata };
}

/**
 * The error of a gRPC status, which the service sent or grpc-js made. A call that is cancelled, but not
 * by us, or that ended without an answer, was cut by a peer that closed the connection, and becomes `Unavailable`.
 */
export function connectErrorOf(
  { code, details, metadata }: StatusObject,
  cancelledByUs: boolean,
): ConnectError {
  const [bytes] = metadata.get(DETAILS);
  if (bytes !== undefined) {
    const sent = findTrailerError(
      new Headers({ [STATUS]: String(code), [DETAILS]: Buffer.from(bytes).toString('base64') }),
    );
    if (sent !== undefined) return sent;
  }
  const isCutByPeer =
    (code === status.CANCELLED && !cancelledByUs) ||
    (code === status.INTERNAL && NO_ANSWER.test(details));
  return new ConnectError(details, isCutByPeer ? Code.Unavailable : (code as number));
}

/** The form of a refusal in gRPC: a status, and beside it google.rpc.Status with the details. */
import { Code, ConnectError } from '@connectrpc/connect';
import { findTrailerError, setTrailerStatus } from '@connectrpc/connect/protocol-grpc';
import { Metadata, type ServiceError, type StatusObject, status } from '@grpc/grpc-js';

const STATUS = 'grpc-status';
const DETAILS = 'grpc-status-details-bin';

/** grpc-js's words for a stream that the peer refused before it looked at it (RFC 9113, 8.7). */
export const STREAM_REFUSED = 'Stream refused by server';

/** The codes of Connect are those of gRPC, number by number. */
export function grpcStatusOf(error: ConnectError): StatusObject {
  const metadata = new Metadata();
  const details = setTrailerStatus(new Headers(), error).get(DETAILS);
  if (details !== null) metadata.set(DETAILS, Buffer.from(details, 'base64'));
  return { code: error.code as number, details: error.rawMessage, metadata };
}

/**
 * The error that a status stands for, sent by the service or made by grpc-js on the way. A call that
 * was cancelled, though not by us, was cut off by a peer that closed.
 */
export function connectErrorOf(
  { code, details, metadata }: ServiceError,
  cancelledByUs: boolean,
): ConnectError {
  const [bytes] = metadata?.get(DETAILS) ?? [];
  if (bytes !== undefined) {
    const sent = findTrailerError(
      new Headers({ [STATUS]: String(code), [DETAILS]: Buffer.from(bytes).toString('base64') }),
    );
    if (sent !== undefined) return sent;
  }
  const cutOff = code === status.CANCELLED && !cancelledByUs;
  return new ConnectError(details, cutOff ? Code.Unavailable : (code as number));
}

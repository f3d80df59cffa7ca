/** A Connect transport whose services have unary methods only. */
import { Code, ConnectError, type Transport } from '@connectrpc/connect';

export type UnaryCall = Transport['unary'];

/** The metadata of a call, as a transport receives it. */
export type CallHeader = Parameters<UnaryCall>[3];

/**
 * The header as names and values; the names are lower case, or as the caller wrote them in a plain object. Our own client passes
 * such an object, with names in lower case, because creating Headers takes longer.
 */
export function recordOf(header: CallHeader): Readonly<Record<string, string | undefined>> {
  const isList = header instanceof Headers || Array.isArray(header);
  return isList ? Object.fromEntries(new Headers(header)) : (header ?? {});
}

/** A transport with its connections. */
export type OpenedTransport = {
  transport: Transport;
  close(): void;
  /**
   * Whether the peer is connected; always true for a transport that keeps no connection. A call of
   * this function also makes an idle transport connect.
   */
  reachable(): boolean;
};

/** A transport that makes unary calls with `unary` and rejects streaming calls. */
export function unaryTransport(unary: UnaryCall): Transport {
  return {
    unary,
    stream: async ({ parent, name }) => {
      throw new ConnectError(`${parent.typeName}/${name} streams`, Code.Unimplemented);
    },
  };
}

/** A Connect transport for services that never stream, made of one function. */
import { Code, ConnectError, type Transport } from '@connectrpc/connect';

export type UnaryCall = Transport['unary'];

export function unaryTransport(unary: UnaryCall): Transport {
  return {
    unary,
    stream: async ({ parent, name }) => {
      throw new ConnectError(`${parent.typeName}/${name} streams`, Code.Unimplemented);
    },
  };
}

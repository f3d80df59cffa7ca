/** For the tests: a way to a service on which the answer to the first call is lost. */
import { Code, ConnectError, type Transport } from '@connectrpc/connect';
import type { TransportWrapper } from '../test-mount.ts';
import { type UnaryCall, unaryTransport } from '../unary-transport.ts';
import { retrying } from './retries.ts';

/** What becomes of the first call, which `send` sends, before its caller sees the connection break. */
export type FirstAttempt = (send: () => Promise<unknown>) => Promise<unknown>;

/** The way as it is between processes, whose calls are made again, and whose first breaks. */
export function loseFirstAnswer(first: FirstAttempt): TransportWrapper {
  return (transport) => retrying(unaryTransport(breakingFirst(transport, first)));
}

function breakingFirst(transport: Transport, first: FirstAttempt): UnaryCall {
  let attempts = 0;
  return async (...call) => {
    attempts += 1;
    if (attempts > 1) return transport.unary(...call);
    await first(() => transport.unary(...call));
    throw new ConnectError('Connection dropped', Code.Unavailable);
  };
}

/** For the tests: a transport that loses the answer to its first call. */
import { Code, ConnectError, type Transport } from '@connectrpc/connect';
import type { TransportWrapper } from '../test-mount.ts';
import { type UnaryCall, unaryTransport } from '../transport.ts';
import { retrying } from './retries.ts';

/**
 * What happens to the first attempt before its caller sees the connection break. `send` sends the
 * attempt and returns the answer.
 */
export type FirstAttempt = (send: () => Promise<unknown>) => Promise<unknown>;

/** A transport with retries, as between processes, whose first attempt fails after `first`. */
export function loseFirstAnswer(first: FirstAttempt): TransportWrapper {
  return (transport) => retrying(unaryTransport(failingFirst(transport, first)));
}

function failingFirst(transport: Transport, first: FirstAttempt): UnaryCall {
  let attempts = 0;
  return async (...call) => {
    attempts += 1;
    if (attempts > 1) return transport.unary(...call);
    await first(() => transport.unary(...call));
    throw new ConnectError('Connection dropped', Code.Unavailable);
  };
}

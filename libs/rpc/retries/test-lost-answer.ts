/** For the tests: calls of which the first loses its answer. */
import { Code, ConnectError } from '@connectrpc/connect';
import type { CallWrapper } from '../test-mount.ts';
import { retrying } from './retries.ts';

/**
 * What happens to the first attempt before its caller sees the connection break. `send` sends the
 * attempt and returns the answer.
 */
export type FirstAttempt = (send: () => Promise<unknown>) => Promise<unknown>;

/** Makes calls with retries, as between processes, whose first attempt fails after `first`. */
export function loseFirstAnswer(first: FirstAttempt): CallWrapper {
  return (unary) => {
    let attempts = 0;
    return retrying(async (...call) => {
      attempts += 1;
      if (attempts > 1) return unary(...call);
      await first(() => unary(...call));
      throw new ConnectError('Connection dropped', Code.Unavailable);
    });
  };
}

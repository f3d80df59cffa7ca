/** For tests: ports that follow one another. */
import { findFreePorts, PortUnavailableError } from './free-ports.ts';

const MAX_TRIES = 1_000;

/** The first of `count` consecutive ports that can be listened on at this moment. */
export async function findConsecutivePorts(count: number): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    const [first = 0] = await findFreePorts(1);
    try {
      await findFreePorts(count, { first });
      return first;
    } catch (error) {
      if (!(error instanceof PortUnavailableError) || tries === MAX_TRIES) throw error;
    }
  }
}

// How the inbox answers deliveries: as a good receiver, or as one of the bad ones it can play.
import type { ServerResponse } from 'node:http';

/** Keep it with 204, answer 500, never answer, or answer 302. */
const MODES = ['accept', 'fail', 'hang', 'redirect'] as const;

type Mode = (typeof MODES)[number];

export interface Behaviour {
  state(): { mode: Mode; refused: number };
  /** Changes the mode as a JSON text asks for; why not, when it does not ask for one. */
  set(json: string | undefined): string | undefined;
  /** Answers a delivery in the bad way that is set; false, untouched, when the way is to accept. */
  answerInstead(response: ServerResponse): boolean;
}

/** Begins by accepting. Deliveries refused in any way are counted, and not kept as arrived. */
export function createBehaviour(): Behaviour {
  let mode: Mode = 'accept';
  let refused = 0;
  const hanging = new Set<ServerResponse>();

  return {
    state: () => ({ mode, refused }),

    set(json) {
      const wanted = readMode(json);
      if (wanted === undefined) return `expected {"mode": one of ${MODES.join(', ')}}`;
      mode = wanted;
      // Cut, not answered: their senders have to try again, and need not wait for a deadline.
      for (const response of hanging) response.destroy();
      return undefined;
    },

    answerInstead(response) {
      if (mode === 'accept') return false;
      refused += 1;
      if (mode === 'hang') {
        hanging.add(response);
        response.once('close', () => hanging.delete(response));
      } else if (mode === 'fail') response.writeHead(500).end('told to fail\n');
      else response.writeHead(302, { location: '/' }).end();
      return true;
    },
  };
}

function readMode(json: string | undefined): Mode | undefined {
  try {
    const { mode } = JSON.parse(json ?? '') ?? {};
    return MODES.find((known) => known === mode);
  } catch {
    // No JSON is no mode; the caller says what was expected.
    return undefined;
  }
}

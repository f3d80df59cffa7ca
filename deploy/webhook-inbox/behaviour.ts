// How the webhook inbox answers webhooks: as a working receiver, or with one kind of failure.
import type { ServerResponse } from 'node:http';

/** Store the webhook and answer 204, answer 500, never answer, or answer 302. */
const MODES = ['accept', 'fail', 'hang', 'redirect'] as const;

type Mode = (typeof MODES)[number];

export interface Behaviour {
  state(): { mode: Mode; refused: number };
  /** Sets the mode that a JSON text names. Returns the reason when the text names none. */
  set(json: string | undefined): string | undefined;
  /** Fails a webhook in the mode that is set. Returns false, without an answer, in mode `accept`. */
  answerWithFailure(response: ServerResponse): boolean;
}

/** Starts in mode `accept`. Refused webhooks are counted and not stored. */
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
      // Closed without an answer: the senders try again at once instead of after their deadlines.
      for (const response of hanging) response.destroy();
      return undefined;
    },

    answerWithFailure(response) {
      if (mode === 'accept') return false;
      refused += 1;
      if (mode === 'hang') {
        hanging.add(response);
        response.once('close', () => hanging.delete(response));
      } else if (mode === 'fail') {
        response.writeHead(500, { 'content-type': 'text/plain' }).end('the mode is fail\n');
      } else response.writeHead(302, { location: '/' }).end();
      return true;
    },
  };
}

function readMode(json: string | undefined): Mode | undefined {
  try {
    const { mode } = JSON.parse(json ?? '') ?? {};
    return MODES.find((known) => known === mode);
  } catch {
    // Not JSON: the caller answers with the modes there are.
    return undefined;
  }
}

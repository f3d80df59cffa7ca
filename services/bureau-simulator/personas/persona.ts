/** A person whose inquiry the simulator answers in a way of its own. */
import type { components } from '@creditlane/client';
import type { Source } from './inquiry.ts';

/** How a bureau answers an inquiry. */
export type Behaviour =
  /** With the persona's `answer.xml`, after this time. */
  | { kind: 'answer'; delayMs?: number }
  /** With an error of HTTP. */
  | { kind: 'http-error'; status: 429 | 503 }
  /** Never. The connection stays open. */
  | { kind: 'hang' }
  /** The connection is closed after the request was read, without an answer. */
  | { kind: 'drop' }
  /** The connection is closed in the middle of the answer. */
  | { kind: 'cut' }
  /** With a page that is no XML. */
  | { kind: 'malformed' }
  /** With XML that ends before its root element does; the HTTP answer is whole. */
  | { kind: 'truncated' }
  /** With XML that is much larger than any real file. */
  | { kind: 'oversized' }
  /** With XML whose entities would expand to gigabytes. */
  | { kind: 'entity-bomb' };

/** How a pull ends: with a file at once, with a file after seconds, without a file, or undecided. */
export type Outcome = 'complete' | 'slow' | 'failed' | 'unknown';

export interface Persona {
  /** The bureaus at which the persona is known. */
  sources: readonly Source[];
  /** Any first name is the persona's unless the first name decides. */
  firstName: string;
  lastName: string;
  isByFirstName?: true;
  /** What the answer is, for the table of personas. */
  about: string;
  /** null when no file comes. */
  hitType: NonNullable<components['schemas']['CreditFile']['hitType']> | null;
  outcome: Outcome;
  behaviour: Behaviour;
}

type Others = Partial<Omit<Persona, 'firstName' | 'lastName' | 'about'>>;
type MakePersona = (first: string, last: string, about: string, others?: Others) => Persona;

/** Makes a persona of these bureaus, whose inquiry finds a file at once unless `others` says otherwise. */
function personaAt(...sources: Source[]): MakePersona {
  return (firstName, lastName, about, others) => ({
    ...{ sources, firstName, lastName, about, hitType: 'HIT', outcome: 'complete' },
    ...{ behaviour: { kind: 'answer' }, ...others },
  });
}

export const both = personaAt('EQUIFAX', 'TRANSUNION');
export const atEquifax = personaAt('EQUIFAX');
export const atTransUnion = personaAt('TRANSUNION');

/** The part of a persona whose inquiry gives no file. */
export function fails(
  behaviour: Behaviour = { kind: 'answer' },
  outcome: 'failed' | 'unknown' = 'failed',
): Others {
  return { hitType: null, outcome, behaviour };
}

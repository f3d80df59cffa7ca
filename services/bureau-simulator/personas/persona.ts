/** A person whose inquiry the simulator answers in a way of its own. */
import type { CreditFile } from '../credit-file.ts';
import type { ReceivedInquiry, Source } from './inquiry.ts';

/** An error of a bureau's format. */
export interface ProviderError {
  code: string;
  description: string;
  detail?: string;
}

/** One or more files for one answer. */
export type MakeFiles = (inquiry: ReceivedInquiry) => [CreditFile, ...CreditFile[]];

export interface FileBehaviour {
  kind: 'file';
  makeFiles: MakeFiles;
  /** Changes the answer's XML, for what no credit file can express. */
  alter?: (xml: string) => string;
  /** The root of TransUnion's answer is REL4Report, without a SOAP envelope. */
  isBare?: true;
  delayMs?: number;
}

/** How a bureau answers an inquiry. */
export type Behaviour =
  | FileBehaviour
  /** With an error of the bureau's format. */
  | ({ kind: 'error' } & ProviderError)
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
  hitType: NonNullable<CreditFile['hitType']> | null;
  outcome: Outcome;
  behaviour: Behaviour;
}

type Facts = Pick<Persona, 'firstName' | 'lastName' | 'about'> &
  Partial<Pick<Persona, 'isByFirstName' | 'sources'>>;

export const EQUIFAX: readonly Source[] = ['EQUIFAX'];
export const TRANSUNION: readonly Source[] = ['TRANSUNION'];
export const BOTH: readonly Source[] = [...EQUIFAX, ...TRANSUNION];

/** A persona with a file, a hit at once unless `facts` says otherwise, known at both bureaus unless it has sources. */
export function withFile(
  facts: Facts & Partial<Pick<Persona, 'hitType' | 'outcome'>>,
  makeFiles: MakeFiles,
  how: Omit<FileBehaviour, 'kind' | 'makeFiles'> = {},
): Persona {
  const behaviour: Behaviour = { kind: 'file', makeFiles, ...how };
  return { sources: BOTH, hitType: 'HIT', outcome: 'complete', ...facts, behaviour };
}

/** A persona without a file, known at both bureaus unless `facts` has sources. */
export function withoutFile(
  facts: Facts & { outcome?: 'failed' | 'unknown' },
  behaviour: Behaviour,
): Persona {
  return { sources: BOTH, hitType: null, outcome: 'failed', ...facts, behaviour };
}

/** The personas by name, and who is meant by a name. */
import { answerOf } from './answers.ts';
import type { ReceivedInquiry, Source } from './inquiry.ts';
import { atEquifax, atTransUnion, both, fails, type Outcome, type Persona } from './persona.ts';

/** Longer than callers usually wait for a page, shorter than any deadline of a bureau. */
const SLOW_MS = 3_000;
const BY_FIRST_NAME = { isByFirstName: true } as const;

/**
 * Every persona, those with a file first. After some failures of the connection in a row, callers usually ask a
 * bureau no more for a while. Personas with such failures therefore stand between others.
 */
export const PERSONAS: readonly Persona[] = [
  both('Carla', 'Complete', 'a file with every section that the format has'),
  both('Theo', 'Thin', 'a new file with one trade'),
  both('Thea', 'Thick', 'a file with 200 trades'),
  atEquifax('Zoë', 'Québécois', 'a file in French, with accents in names and texts'),
  atEquifax('Tara', 'Tworeports', 'two reports in one answer; the second is the hit'),
  atEquifax(
    'Toby',
    'Twopersons',
    'hits of two persons in one answer; the second is the one who was asked about',
  ),
  both(
    'Ulla',
    'Undated',
    'a file without date of birth and social insurance number, which matches in part only',
  ),
  both('Sonia', 'Someoneelse', 'the file of another person', fails()),
  atEquifax('Bruno', 'Bankrupt', 'bankruptcies'),
  both('Colin', 'Collections', 'a paid and an unpaid collection'),
  atEquifax('Lena', 'Legal', 'judgments and a foreclosure'),
  atEquifax('Saul', 'Satisfied', 'satisfied judgments'),
  atEquifax('Gary', 'Garnishee', 'a garnishment'),
  atEquifax('Sam', 'Secured', 'a registered loan'),
  both('Lars', 'Late', 'trades of every rate, and earlier rates'),
  both('Pablo', 'Profile', 'a trade with 24 months of every rate'),
  atEquifax('Mona', 'Months', 'trades with exact days beside one with months only'),
  atEquifax('Lionel', 'Line', 'a line of credit, which only its monthly profile calls so'),
  atTransUnion('Liam', 'Limits', 'trades with a credit limit instead of a high credit'),
  atEquifax('Wanda', 'Warnings', 'a fraud warning and a data warning'),
  atTransUnion(
    'Mei',
    'Messages',
    'messages and other sections that the interface has no field for',
  ),
  atEquifax('Alma', 'Alert', 'special services: a stolen wallet'),
  atEquifax('Stella', 'Statement', 'a statement of the consumer'),
  atEquifax('Farah', 'Foreign', 'inquiries of foreign members'),
  atEquifax('Nadia', 'Names', 'other names, addresses and employments'),
  atEquifax('Sukie', 'Suffix', 'names whose suffix is a code without a text'),
  atEquifax('Olga', 'Otherincome', 'an income beside that of the employment'),
  atEquifax('Tess', 'Telephone', 'telephone numbers with and without an extension'),
  atEquifax('Dora', 'Deceased', 'a date of death'),
  both('High', 'Score', 'a score of 852', BY_FIRST_NAME),
  both('Low', 'Score', 'a score of 431', BY_FIRST_NAME),
  atEquifax('Reject', 'Score', 'no score, with the reject code in its place', BY_FIRST_NAME),
  atTransUnion('Nell', 'Noscore', 'score products of which one alone has a score'),
  both('Uma', 'Unknowncode', 'codes that no table has: the values are left out'),
  atEquifax(
    'Connie',
    'Conflict',
    'codes whose descriptions name other values: the descriptions count',
  ),
  atTransUnion('Rhea', 'Root', 'an answer whose root is REL4Report, without a SOAP envelope'),
  both('Sloane', 'Slow', 'a file after 3 seconds', {
    outcome: 'slow',
    behaviour: { kind: 'answer', delayMs: SLOW_MS },
  }),
  both('Noah', 'Nohit', 'nobody of this name is known', { hitType: 'NO_HIT' }),
  atEquifax('Nora', 'Norequest', 'the product has no credit file', {
    hitType: 'NO_CREDIT_FILE_REQUESTED',
  }),
  atEquifax('Manny', 'Manual', 'a file that the bureau sends by hand', { hitType: 'MANUAL_FILE' }),
  atEquifax('Dawn', 'Declaration', 'a declaration of the consumer', {
    hitType: 'CONSUMER_DECLARATION',
  }),
  atEquifax('Rory', 'Referred', 'a file that another office has', { hitType: 'REFERRED_FILE' }),
  atEquifax('Cody', 'Contact', 'the bureau asks for a call of its collection department', {
    hitType: 'CONTACT_BUREAU_COLLECTION_DEPARTMENT',
  }),
  atEquifax('Lou', 'Locked', 'a file that the consumer has locked', { hitType: 'CREDIT_LOCK' }),
  both(
    'Una',
    'Unavailable',
    'HTTP status 503, which leaves open whether the bureau made the inquiry',
    fails({ kind: 'http-error', status: 503 }, 'unknown'),
  ),
  atEquifax('Bea', 'Badlogin', 'error E0819, as with wrong credentials', fails()),
  atTransUnion('Bea', 'Badlogin', 'error A001, as with wrong credentials', fails()),
  both(
    'Buzz',
    'Busy',
    'HTTP status 429: the bureau made no inquiry',
    fails({ kind: 'http-error', status: 429 }),
  ),
  atEquifax('Tim', 'Tagless', 'error E0807, missing tag', fails()),
  atTransUnion('Tim', 'Tagless', 'error R001', fails()),
  both(
    'Drew',
    'Dropped',
    'the connection is closed once the request was read',
    fails({ kind: 'drop' }, 'unknown'),
  ),
  both('Mal', 'Malformed', 'a page that is no XML', fails({ kind: 'malformed' })),
  atEquifax('Cy', 'Badcity', 'error EV304, city', fails()),
  both(
    'Otto',
    'Oversized',
    'an answer of 64 MiB, which is not read to its end',
    fails({ kind: 'oversized' }, 'unknown'),
  ),
  both('Troy', 'Truncated', 'XML that ends too early', fails({ kind: 'truncated' })),
  atEquifax('Ella', 'Errors', 'errors EV304 and EV305 in one answer', fails()),
  atEquifax('Pru', 'Badprovince', 'error EV305, province', fails()),
  both(
    'Cutter',
    'Cutoff',
    'the connection is closed in the middle of the answer',
    fails({ kind: 'cut' }, 'unknown'),
  ),
  both('Ben', 'Bomb', 'XML with entities that expand to gigabytes', fails({ kind: 'entity-bomb' })),
  both(
    'Hana',
    'Hanging',
    'no answer; the connection stays open',
    fails({ kind: 'hang' }, 'unknown'),
  ),
];

type FullName = Pick<Persona, 'firstName' | 'lastName'>;

/** The persona of a name at a bureau, without regard to case and accents; undefined for other names. */
export function findPersona(
  source: Source,
  { firstName, lastName }: FullName,
): Persona | undefined {
  return PERSONAS.find(
    (it) =>
      it.sources.includes(source) &&
      keyOf(it.lastName) === keyOf(lastName) &&
      (it.isByFirstName !== true || keyOf(it.firstName) === keyOf(firstName)),
  );
}

/** The XML of the answer with the persona's file; without a file of its own, or without a persona, that of the ordinary one. */
export function writeAnswer(inquiry: ReceivedInquiry, persona: Persona | undefined): string {
  return answerOf(persona?.behaviour.kind === 'answer' ? folderOf(persona) : 'ordinary', inquiry);
}

/** The name of the persona's folder, such as `carla-complete`. */
export function folderOf({ firstName, lastName }: FullName): string {
  return keyOf(`${firstName}-${lastName}`);
}

/** A persona at one bureau, as a program reads it. */
export interface ListedPersona {
  source: Source;
  firstName: string;
  lastName: string;
  /** null when no file comes. */
  hitType: Persona['hitType'];
  outcome: Outcome;
}

export function listPersonas(): ListedPersona[] {
  return PERSONAS.flatMap(({ sources, firstName, lastName, hitType, outcome }) =>
    sources.map((source) => ({ source, firstName, lastName, hitType, outcome })),
  );
}

function keyOf(name: string): string {
  const withoutAccents = name.normalize('NFD').replace(/\p{Diacritic}/gu, '');
  return withoutAccents.trim().toLowerCase();
}

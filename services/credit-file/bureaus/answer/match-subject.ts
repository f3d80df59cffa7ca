/** Compares the person whom an inquiry was about with the one whom a report is about. */

interface Name {
  firstName?: string | undefined;
  lastName?: string | undefined;
}

/** What is compared of a person. */
export interface Person extends Name {
  /** yyyy-MM-dd, or yyyy-MM where the day is not known. */
  dateOfBirth?: string | undefined;
  sin?: string | undefined;
  otherNames?: readonly Name[] | undefined;
}

/**
 * What differs between inquiry and report, or what the report lacks so that it could not be compared. SUBJECT_TYPE and
 * REQUEST_NUMBER are of what the bureau repeats of the request.
 */
export type Difference =
  | 'NAME'
  | 'LAST_NAME'
  | 'DATE_OF_BIRTH'
  | 'SIN'
  | 'NAME_MISSING'
  | 'DATE_OF_BIRTH_MISSING'
  | 'SUBJECT_TYPE'
  | 'REQUEST_NUMBER';

export type SubjectMatch =
  | { readonly kind: 'FULL' }
  /** Probably the same person; a human should look at what differs. */
  | { readonly kind: 'PARTIAL'; readonly differences: readonly [Difference, ...Difference[]] }
  | { readonly kind: 'OTHER' };

const FULL: SubjectMatch = { kind: 'FULL' };
const OTHER: SubjectMatch = { kind: 'OTHER' };

/**
 * Whether a report is about the person who was asked about:
 *
 * | name | date of birth | SINs | result |
 * |---|---|---|---|
 * | same | same | same, or one is missing | FULL |
 * | same | same | differ | PARTIAL: SIN |
 * | same | missing | same | FULL |
 * | same | missing | one is missing | PARTIAL: DATE_OF_BIRTH_MISSING |
 * | same | missing | differ | OTHER |
 * | same | another | same | PARTIAL: DATE_OF_BIRTH |
 * | same | near | one is missing | PARTIAL: DATE_OF_BIRTH |
 * | same | another | one is missing, or they differ | OTHER |
 * | other | same | same | PARTIAL: NAME |
 * | other last name alone | same | one is missing | PARTIAL: LAST_NAME, as after a marriage |
 * | other | any other case | | OTHER |
 * | missing | same or missing | same, or one is missing | PARTIAL: NAME_MISSING, and what else is missing |
 * | missing | another | same | PARTIAL: NAME_MISSING, DATE_OF_BIRTH |
 * | missing | any other case | | OTHER |
 *
 * Accents, case, hyphens, apostrophes and blanks do not count. Names are the same when the last names agree (they are
 * equal, or one is a whole part of the other) and the first names do (they are equal, one begins with the words of the
 * other, or has initials in their place): also in swapped order, and by any other name of the report. A name is missing
 * when a part of it is, and what is there does not differ. Dates are near when exactly one of year, month and day differs,
 * or day and month are swapped; a date without a day is compared by its month. Nine equal digits are no SIN.
 */
export function matchSubject(asked: Person, found: Person): SubjectMatch {
  const name = compareNames(asked, found);
  const birth = compareDates(asked.dateOfBirth, found.dateOfBirth);
  const sin = compareSins(asked.sin, found.sin);
  switch (name) {
    case 'same':
      return matchOfSameName(birth, sin);
    case 'missing':
      return matchWithoutName(birth, sin);
    default:
      if (birth !== 'same') return OTHER;
      if (sin === 'same') return partial('NAME');
      return name === 'other_last' && sin === 'missing' ? partial('LAST_NAME') : OTHER;
  }
}

type NameResult = 'same' | 'other_last' | 'other' | 'missing';
type DateResult = 'same' | 'near' | 'other' | 'missing';
type SinResult = 'same' | 'other' | 'missing';

function matchOfSameName(birth: DateResult, sin: SinResult): SubjectMatch {
  if (birth === 'same') return sin === 'other' ? partial('SIN') : FULL;
  if (sin === 'other') return OTHER;
  if (birth === 'missing') return sin === 'same' ? FULL : partial('DATE_OF_BIRTH_MISSING');
  return sin === 'same' || birth === 'near' ? partial('DATE_OF_BIRTH') : OTHER;
}

function matchWithoutName(birth: DateResult, sin: SinResult): SubjectMatch {
  if (sin === 'other') return OTHER;
  if (birth === 'same') return partial('NAME_MISSING');
  if (birth === 'missing') {
    return sin === 'same'
      ? partial('NAME_MISSING')
      : partial('NAME_MISSING', 'DATE_OF_BIRTH_MISSING');
  }
  return sin === 'same' ? partial('NAME_MISSING', 'DATE_OF_BIRTH') : OTHER;
}

function partial(...differences: [Difference, ...Difference[]]): SubjectMatch {
  return { kind: 'PARTIAL', differences };
}

/** The best of all names of the report, or else what its first one gives. */
function compareNames(asked: Name, found: Person): NameResult {
  const own = wordsOf(asked);
  const { firstName, lastName, otherNames = [] } = found;
  // Another name may be a last name alone, which then goes with the first name of the person.
  const others = otherNames.slice(0, MAX_OTHER_NAMES);
  const names = [
    found,
    ...others.map((it) => ({ ...definedOf({ firstName, lastName }), ...definedOf(it) })),
  ];
  const results = names
    .map(wordsOf)
    .filter(({ all }) => all.length > 0)
    .map((words) => compareWords(own, words));
  if (own.all.length === 0) return 'missing';
  return results.find((it) => it === 'same') ?? results[0] ?? 'missing';
}

function definedOf({ firstName, lastName }: Name): Name {
  return { ...(firstName && { firstName }), ...(lastName && { lastName }) };
}

interface NameWords {
  first: readonly string[];
  last: readonly string[];
  all: readonly string[];
}

function compareWords(asked: NameWords, found: NameWords): NameResult {
  const incomplete = [asked, found].filter(({ first, last }) => !first.length || !last.length);
  if (incomplete.length > 0) {
    const isPart = ({ all }: NameWords) =>
      all.every((word) => asked.all.includes(word) && found.all.includes(word));
    return incomplete.some(isPart) ? 'missing' : 'other';
  }
  const isSame =
    lastNamesAgree(asked.last, found.last) && firstNamesAgree(asked.first, found.first);
  const isSwapped =
    lastNamesAgree(asked.last, found.first) && firstNamesAgree(asked.first, found.last);
  if (isSame || isSwapped) return 'same';
  return beginsAlike(asked.first, found.first) ? 'other_last' : 'other';
}

/** Words that begin many last names, and are no name on their own when they stand for a longer one. */
const PARTICLES = new Set(
  'AL BIN D DA DAS DE DEN DER DES DI DOS DU EL L LA LE MAC MC O SAINT SAINTE ST STE VAN VON'.split(
    ' ',
  ),
);

function lastNamesAgree(one: readonly string[], other: readonly string[]): boolean {
  return joined(one) === joined(other) || isPartOf(one, other) || isPartOf(other, one);
}

/** Whether the words are some of those of the whole, in a row. */
function isPartOf(part: readonly string[], whole: readonly string[]): boolean {
  if (part.every((word) => PARTICLES.has(word))) return false;
  const text = joined(part);
  return whole.some((_, start) =>
    whole.some((_, end) => end >= start && joined(whole.slice(start, end + 1)) === text),
  );
}

function firstNamesAgree(one: readonly string[], other: readonly string[]): boolean {
  if (beginsAlike(one, other)) return true;
  const count = Math.min(one.length, other.length);
  return one.slice(0, count).every((word, index) => isSameOrInitial(word, other[index] ?? ''));
}

/** Whether they are equal, or one of them begins with all words of the other. */
function beginsAlike(one: readonly string[], other: readonly string[]): boolean {
  const isBeginning = (part: readonly string[], whole: readonly string[]) =>
    whole.some((_, end) => joined(whole.slice(0, end + 1)) === joined(part));
  return isBeginning(one, other) || isBeginning(other, one);
}

function isSameOrInitial(one: string, other: string): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  return short === long || (short.length === 1 && long.startsWith(short));
}

function joined(words: readonly string[]): string {
  return words.join('');
}

/** The longest name of an applicant has 100 characters. That of an answer may be of any length. */
const MAX_NAME_LENGTH = 200;
/** Comparing two names takes a time proportional to the cube of their number. */
const MAX_WORDS = 20;
const MAX_OTHER_NAMES = 100;
/** Letters that no normalisation turns into those of the alphabet by which bureaus write names. */
const PLAIN_LETTERS: Readonly<Record<string, string>> = {
  Æ: 'AE',
  Œ: 'OE',
  Ø: 'O',
  Ð: 'D',
  Đ: 'D',
  Ł: 'L',
  Þ: 'TH',
};

function wordsOf({ firstName, lastName }: Name): NameWords {
  const [first, last] = [splitName(firstName), splitName(lastName)];
  return { first, last, all: [...first, ...last] };
}

/** The words of a name in capital letters, without accents and apostrophes. */
export function splitName(name = ''): string[] {
  return name
    .slice(0, MAX_NAME_LENGTH)
    .replace(/['’‘ʼ`´]/g, '')
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toUpperCase()
    .replace(/[ÆŒØÐĐŁÞ]/g, (letter) => PLAIN_LETTERS[letter] ?? letter)
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .slice(0, MAX_WORDS);
}

function compareDates(asked: string | undefined, found: string | undefined): DateResult {
  if (!asked || !found) return 'missing';
  const [one, other] = [asked.split('-'), found.split('-')];
  const count = Math.min(one.length, other.length);
  const differing = one.slice(0, count).filter((part, index) => part !== other[index]).length;
  if (differing === 0) return 'same';
  const [year, month, day] = one;
  const isSwapped = found === [year, day, month].join('-');
  return differing === 1 || isSwapped ? 'near' : 'other';
}

function compareSins(asked: string | undefined, found: string | undefined): SinResult {
  const [one, other] = [sinOf(asked), sinOf(found)];
  if (one === undefined || other === undefined) return 'missing';
  return one === other ? 'same' : 'other';
}

/** The nine digits; undefined for a filler. */
export function sinOf(text = ''): string | undefined {
  const digits = text.replace(/\D/g, '');
  return /^\d{9}$/.test(digits) && !/^(\d)\1*$/.test(digits) ? digits : undefined;
}

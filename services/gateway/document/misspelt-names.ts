/** Finds the member of a body that a name means and does not spell. */

interface Spelling {
  readonly name: string;
  /** In lower case, without `_` and `-`. */
  readonly letters: string;
}

const MAX_SLIPS = 2;

/**
 * Makes the function that returns the one of the `known` names that a name is apart from case, `_`, `-` and slips of the
 * keyboard; undefined where there is none.
 *
 * A slip is a letter that is missing, added, replaced, or swapped with its neighbour. A name of eight letters or more may have two
 * of them, and a shorter one has one; one of four has no letter replaced ("team" is not "term"), and one of three has no slip ("gst"
 * is not "pst"). A name with a replaced first letter, with other digits, or with a whole word more or less is another name:
 * "basePrice", "phoneNumber2" and "street" are not "salePrice", "phoneNumber" and "streetNo". So is a name of `others`, which the
 * interface has elsewhere, unless it is the plural or the singular.
 */
export function misspellingsOf(
  known: readonly string[],
  others: ReadonlySet<string>,
): (name: string) => string | undefined {
  const spellings = known.map(spellingOf);
  const otherLetters = new Set([...others].map((name) => spellingOf(name).letters));
  const longest = Math.max(0, ...known.map(({ length }) => length));
  return (name) => {
    // A name in words has a separator between two letters at most.
    if (name.length > 2 * (longest + MAX_SLIPS)) return undefined;
    const given = spellingOf(name);
    const candidates = spellings.filter((it) => beginsAlike(given, it));
    const find = (isMeant: (known: Spelling) => boolean) => candidates.find(isMeant)?.name;
    const same = find(({ letters }) => letters === given.letters);
    if (same !== undefined) return same;
    if (otherLetters.has(given.letters)) return find((it) => isOtherNumber(given, it));
    // The nearest: "capturdBy" is also two letters from "capturedAt".
    return find((it) => isMisspelt(given, it, 1)) ?? find((it) => isMisspelt(given, it, MAX_SLIPS));
  };
}

function spellingOf(name: string): Spelling {
  return { name, letters: name.replaceAll(/[_-]/g, '').toLowerCase() };
}

/** Whether the first letters are the same, or one of them is missing or swapped with the second. */
function beginsAlike({ letters: one }: Spelling, { letters: other }: Spelling): boolean {
  return one[0] === other[0] || one[0] === other[1] || one[1] === other[0];
}

function isOtherNumber({ letters: one }: Spelling, { letters: other }: Spelling): boolean {
  return one === `${other}s` || other === `${one}s`;
}

function isMisspelt(given: Spelling, known: Spelling, slips: number): boolean {
  const { length } = known.letters;
  if (length < 4 || (slips > 1 && length < 8)) return false;
  // First, because most names are refused by it, and a hostile body has thousands of names.
  if (!isWithin(slips, given.letters, known.letters)) return false;
  const hasReplacedLetter =
    given.letters.length === length && sorted(given.letters) !== sorted(known.letters);
  return (
    !(length === 4 && hasReplacedLetter) &&
    given.letters.replaceAll(/\D/g, '') === known.letters.replaceAll(/\D/g, '') &&
    !hasWholeWordMore(wordsOf(given), wordsOf(known))
  );
}

function sorted(letters: string): string {
  return [...letters].sort().join('');
}

/** The words of "gpsFee", "gps_fee" and "GPS-FEE" are the same. */
function wordsOf({ name }: Spelling): string[] {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[_-]+/);
}

function hasWholeWordMore(some: readonly string[], others: readonly string[]): boolean {
  const [fewer, more] = some.length < others.length ? [some, others] : [others, some];
  return fewer.length < more.length && fewer.every((word, index) => word === more[index]);
}

/** Whether at most so many slips make one text of the other, from these places on. */
function isWithin(slips: number, one: string, other: string, from = 0, otherFrom = 0): boolean {
  let [at, otherAt] = [from, otherFrom];
  while (at < one.length && one[at] === other[otherAt]) {
    at += 1;
    otherAt += 1;
  }
  const [left, otherLeft] = [one.length - at, other.length - otherAt];
  if (left === 0 || otherLeft === 0) return left + otherLeft <= slips;
  if (slips === 0 || Math.abs(left - otherLeft) > slips) return false;
  const isSwapped = one[at] === other[otherAt + 1] && one[at + 1] === other[otherAt];
  return (
    isWithin(slips - 1, one, other, at + 1, otherAt) ||
    isWithin(slips - 1, one, other, at, otherAt + 1) ||
    isWithin(slips - 1, one, other, at + 1, otherAt + 1) ||
    (isSwapped && isWithin(slips - 1, one, other, at + 2, otherAt + 2))
  );
}

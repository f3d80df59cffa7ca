/** Vehicle identification numbers: their form since the model year 1981 (ISO 3779), and the check digit of North America. */

const FIRST_YEAR = 1981;
const FORM = /^[A-HJ-NPR-Z0-9]{17}$/;
/** The first letters of makers in the United States, Canada and Mexico (ISO 3780), where the ninth character is a check digit. */
const NORTH_AMERICAN = /^(?:[1-5]|7[F-HJ-NPR-Z0-9])/;
const CHECK_PLACE = 8;

/** 49 CFR 565.15: the letters' values, and the weight of each place; that of the check digit is 0. */
const VALUES = new Map(
  [...'ABCDEFGH', ...'JKLMN', ...'P', ...'R', ...'STUVWXYZ'].map((letter, index) => [
    letter,
    [1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 7, 9, 2, 3, 4, 5, 6, 7, 8, 9][index] ?? 0,
  ]),
);
const WEIGHTS = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];

/** The number as it is stored. */
export function normalVin(text: string): string {
  return text.toUpperCase();
}

/**
 * What is wrong with a number, as the rest of a sentence; undefined when nothing is. A vehicle of before 1981 may have any.
 *
 * @param year the model year, if known
 */
export function findVinFault(text: string, year: number | undefined): string | undefined {
  if (year !== undefined && year < FIRST_YEAR) return undefined;
  const vin = normalVin(text);
  if (!FORM.test(vin)) {
    return `must have 17 letters and digits, without I, O and Q, for a vehicle from ${FIRST_YEAR} on`;
  }
  if (!NORTH_AMERICAN.test(vin) || vin[CHECK_PLACE] === checkDigitOf(vin)) return undefined;
  return 'must have a check digit that agrees with its other characters, because the maker is North American';
}

function checkDigitOf(vin: string): string {
  const sum = WEIGHTS.reduce((total, weight, index) => {
    const character = vin[index] ?? '';
    return total + weight * (VALUES.get(character) ?? Number(character));
  }, 0);
  const rest = sum % 11;
  return rest === 10 ? 'X' : String(rest);
}

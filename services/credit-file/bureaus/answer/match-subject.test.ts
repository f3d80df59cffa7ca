import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { matchSubject, type Person, type SubjectMatch } from './match-subject.ts';

const MAYA: Person = {
  firstName: 'Maya',
  lastName: 'Tremblay',
  dateOfBirth: '1988-07-14',
  sin: '046454286',
};
const WITHOUT_SIN: Person = { ...MAYA, sin: undefined };
const OTHER_SIN = '130692544';

/** "FULL", "OTHER", or what differs. */
function resultOf(match: SubjectMatch): string {
  return match.kind === 'PARTIAL' ? match.differences.join(' ') : match.kind;
}

describe.each([
  ['itself', {}, 'FULL'],
  ['without a SIN', { sin: undefined }, 'FULL'],
  ['with another SIN', { sin: OTHER_SIN }, 'SIN'],
  ['with a SIN of zeros', { sin: '000000000' }, 'FULL'],
  ['with a filler as SIN', { sin: '999999999' }, 'FULL'],
  ['without a birth date, with the same SIN', { dateOfBirth: undefined }, 'FULL'],
  [
    'without birth date and SIN',
    { dateOfBirth: undefined, sin: undefined },
    'DATE_OF_BIRTH_MISSING',
  ],
  ['without a birth date, with another SIN', { dateOfBirth: undefined, sin: OTHER_SIN }, 'OTHER'],
  ['with another birth date and the same SIN', { dateOfBirth: '1951-01-02' }, 'DATE_OF_BIRTH'],
  ['with another year and no SIN', { dateOfBirth: '1989-07-14', sin: undefined }, 'DATE_OF_BIRTH'],
  ['with another month and no SIN', { dateOfBirth: '1988-01-14', sin: undefined }, 'DATE_OF_BIRTH'],
  ['with another day and no SIN', { dateOfBirth: '1988-07-15', sin: undefined }, 'DATE_OF_BIRTH'],
  ['with another day and another SIN', { dateOfBirth: '1988-07-15', sin: OTHER_SIN }, 'OTHER'],
  ['with another day and month and no SIN', { dateOfBirth: '1988-08-15', sin: undefined }, 'OTHER'],
  ['with the month alone', { dateOfBirth: '1988-07', sin: undefined }, 'FULL'],
  ['with another month alone', { dateOfBirth: '1988-08', sin: undefined }, 'DATE_OF_BIRTH'],
  ['with another month of another year', { dateOfBirth: '1987-08', sin: undefined }, 'OTHER'],
  [
    'of another name, with the same birth date and SIN',
    { firstName: 'Ann', lastName: 'Roy' },
    'NAME',
  ],
  ['of another last name, without a SIN', { lastName: 'Roy', sin: undefined }, 'LAST_NAME'],
  ['of another last name, with another SIN', { lastName: 'Roy', sin: OTHER_SIN }, 'OTHER'],
  [
    'of another last name, without a birth date',
    { lastName: 'Roy', sin: undefined, dateOfBirth: undefined },
    'OTHER',
  ],
  ['of another last name and birth date', { lastName: 'Roy', dateOfBirth: '1951-01-02' }, 'OTHER'],
  ['of another first name, born on the same day', { firstName: 'Ann', sin: undefined }, 'OTHER'],
  [
    'of another last name, with an initial',
    { firstName: 'M', lastName: 'Roy', sin: undefined },
    'OTHER',
  ],
  ['without a name', { firstName: undefined, lastName: undefined }, 'NAME_MISSING'],
  ['with its last name alone', { firstName: undefined, sin: undefined }, 'NAME_MISSING'],
  [
    'with another last name alone',
    { firstName: undefined, lastName: 'Roy', sin: undefined },
    'OTHER',
  ],
  ['with its last name alone, and another SIN', { firstName: undefined, sin: OTHER_SIN }, 'OTHER'],
  [
    'with its last name alone, and another day',
    { firstName: undefined, sin: undefined, dateOfBirth: '1988-07-15' },
    'OTHER',
  ],
  [
    'with a SIN alone',
    { firstName: undefined, lastName: undefined, dateOfBirth: undefined },
    'NAME_MISSING',
  ],
  [
    'with nothing',
    { firstName: undefined, lastName: undefined, dateOfBirth: undefined, sin: undefined },
    'NAME_MISSING DATE_OF_BIRTH_MISSING',
  ],
] as const)('a report of the person %s', (_what, change, expected) => {
  test(`→ ${expected}`, () => {
    expect(resultOf(matchSubject(MAYA, { ...MAYA, ...change }))).toBe(expected);
  });
});

test('day and month in the other order, without a SIN to compare, differ in the birth date alone', () => {
  const asked = { ...WITHOUT_SIN, dateOfBirth: '1988-07-04' };
  const swapped = { ...asked, dateOfBirth: '1988-04-07' };
  expect(resultOf(matchSubject(asked, swapped))).toBe('DATE_OF_BIRTH');
  expect(resultOf(matchSubject(asked, { ...swapped, dateOfBirth: '1987-04-07' }))).toBe('OTHER');
});

describe('the names', () => {
  test.each([
    ['Zoë Québécois', 'ZOE QUEBECOIS'],
    ['Cœur Bæk', 'COEUR BAEK'],
    ["Pat O'Neil", 'PAT ONEIL'],
    ['Pat O’Neil', 'PAT O_NEIL'],
    ['Ann St-Pierre', 'ANN ST_PIERRE'],
    ['Ann McDonald', 'ANN MC_DONALD'],
    ['Ann Tremblay-Côté', 'ANN TREMBLAY'],
    ['Ann Tremblay', 'ANN COTE_TREMBLAY'],
    ['Ann De_La_Cruz', 'ANN DELACRUZ'],
    ['Ann Cruz', 'ANN DE_LA_CRUZ'],
    ['Jean-Paul Roy', 'JEAN ROY'],
    ['Jean Roy', 'JEAN_PAUL ROY'],
    ['Jean-Paul Roy', 'JEANPAUL ROY'],
    ['Jean-Paul Roy', 'J ROY'],
    ['Jean-Paul Roy', 'J_P ROY'],
    ['J. Roy', 'JEAN ROY'],
    ['Paul Martin', 'MARTIN PAUL'],
    ['Anh Nguyen', 'NGUYEN ANH'],
    ['Юлия Иванова', 'ЮЛИЯ ИВАНОВА'],
  ])('%s and %s agree', (one, other) => {
    expect(compareNames(one, other)).toBe('FULL');
    expect(compareNames(other, one)).toBe('FULL');
  });

  test.each([
    ['Ann Roy', 'ANNE ROY'],
    ['Jean Roy', 'JEANNE ROY'],
    ['Jean-Paul Roy', 'PAUL ROY'],
    ['Jean Roy', 'P ROY'],
    ['Ann Roy', 'ROY TREMBLAY'],
    ['Ann Roy', 'PAT LEROY'],
    ['Pat Neil', 'ANN NEIL'],
  ])('%s and %s do not agree', (one, other) => {
    expect(compareNames(one, other)).toBe('OTHER');
    expect(compareNames(other, one)).toBe('OTHER');
  });

  test.each([
    ['Ann De', 'ANN DE_LA_CRUZ'],
    ['Ann St', 'ANN ST_PIERRE'],
    ['Ann Tremblay-Côté', 'ANN TREMBLAY_ROY'],
  ])('%s and %s agree in the first name alone', (one, other) => {
    expect(compareNames(one, other)).toBe('LAST_NAME');
  });

  test('agree by any other name of the report, which may lack a part', () => {
    const found = { ...WITHOUT_SIN, lastName: 'Okafor' };
    const otherNames = [{ lastName: 'Roy' }, { lastName: 'TREMBLAY' }];
    expect(resultOf(matchSubject(WITHOUT_SIN, { ...found, otherNames }))).toBe('FULL');
    const others = [{ firstName: 'MAYA', lastName: 'ROY' }];
    expect(resultOf(matchSubject(WITHOUT_SIN, { ...found, otherNames: others }))).toBe('LAST_NAME');
  });

  test('of a person with one name differ in what is missing', () => {
    const found = { ...WITHOUT_SIN, firstName: undefined, lastName: 'SUKARNO' };
    for (const firstName of ['-', 'Sukarno']) {
      const asked = { ...WITHOUT_SIN, firstName, lastName: 'Sukarno' };
      expect(resultOf(matchSubject(asked, found))).toBe('NAME_MISSING');
    }
  });

  test('of any length are compared at once', () => {
    const endless = { ...WITHOUT_SIN, firstName: 'A '.repeat(2_000_000), lastName: 'A '.repeat(9) };
    expect(resultOf(matchSubject(WITHOUT_SIN, endless))).toBe('OTHER');
  });

  function compareNames(one: string, other: string): string {
    const [asked, found] = [one, other].map((it) => {
      const [firstName, lastName] = it.split(' ').map((part) => part.replaceAll('_', ' '));
      return { firstName, lastName, dateOfBirth: '1988-07-14' };
    });
    return resultOf(matchSubject(asked ?? {}, found ?? {}));
  }
});

const name = fc.constantFrom('Ann', 'Zoë-Ann', "O'Neil", 'De La Cruz', 'Roy', 'J', '-', '', ' ');
const date = fc.constantFrom('1988-07-14', '1988-07', '1951-01-02', undefined);
const sin = fc.constantFrom('046454286', OTHER_SIN, '000000000', undefined);
const person = fc.record({ firstName: name, lastName: name, dateOfBirth: date, sin });

test('a report of the same person is never of another one, and of the same facts whole', () => {
  fc.assert(
    fc.property(person, (it) => {
      const match = matchSubject(it, { ...it, lastName: it.lastName.toUpperCase() });
      expect(match.kind).not.toBe('OTHER');
      const isNamed = /\w/.test(it.firstName) && /\w/.test(it.lastName);
      if (isNamed && it.dateOfBirth !== undefined) expect(match.kind).toBe('FULL');
    }),
  );
});

test('two persons of whom neither name nor birth date nor SIN agree are never a match', () => {
  fc.assert(
    fc.property(person, (it) => {
      const other = { firstName: 'Ulf', lastName: 'Xu', dateOfBirth: '1930-12-31' };
      const isNamed = /\w/.test(it.firstName + it.lastName);
      const { kind } = matchSubject(it, { ...other, sin: it.sin && '193456787' });
      if (isNamed || it.dateOfBirth !== undefined) expect(kind).toBe('OTHER');
    }),
  );
});

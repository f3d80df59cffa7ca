import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CodeTableError, readCodeTables } from './code-tables.ts';

test('without overrides the tables are those of the bureaus’ files', () => {
  const { equifax, transUnion } = readCodeTables();
  expect(equifax.codes.hitType.get('1')).toBe('HIT');
  expect(transUnion.codes.otherName.get('Primary')).toBeNull();
  expect(transUnion.codes.paymentRate.get('01')).toBe('PAID_AS_AGREED_AND_UP_TO_DATE');
  expect(transUnion.codes.paymentRate.get('1')).toBeUndefined();
});

test.each([
  [
    'YAML',
    'equifax:\n  portfolioType:\n    L: LEASE_ACCOUNT\n    C: null\n  words: { OPT: OPTION }',
  ],
  ['JSON', '{"equifax":{"portfolioType":{"L":"LEASE_ACCOUNT","C":null},"words":{"OPT":"OPTION"}}}'],
])('an override in %s replaces the entries of the same code and no others', (_name, overrides) => {
  const { equifax, transUnion } = readCodeTables(overrides);
  expect(Object.fromEntries(equifax.codes.portfolioType)).toEqual({
    R: 'REVOLVING_OR_OPTION',
    I: 'INSTALMENT',
    O: 'OPEN_ACCOUNT',
    C: null,
    M: 'MORTGAGE',
    L: 'LEASE_ACCOUNT',
  });
  expect(equifax.words.get('OPT')).toBe('OPTION');
  expect(equifax.words.get('3RD')).toBe('THIRD');
  expect(transUnion).toEqual(readCodeTables().transUnion);
});

test('codes of digits stay text, so 01 is not 1', () => {
  const { equifax } = readCodeTables('equifax: { hitType: { 01: MANUAL_FILE } }');
  expect(equifax.codes.hitType.get('1')).toBe('HIT');
  expect(equifax.codes.hitType.get('01')).toBe('MANUAL_FILE');
});

describe('overrides that cannot be used are refused with their place', () => {
  test.each([
    ['equifax: { hitType: { "1": HITT } }', 'equifax.hitType.1 cannot be "HITT"'],
    [
      'equifax: { paymentRate: { X: CREDIT_LOCK } }',
      'equifax.paymentRate.X cannot be "CREDIT_LOCK"',
    ],
    ['equifax: { error: { E1: maybe } }', 'equifax.error.E1 cannot be "maybe"'],
    ['equifax: { descriptions: { AUTO: auto } }', 'equifax.descriptions.AUTO cannot be "auto"'],
    ['equifax: { elements: { employmentCity: City/ } }', 'employmentCity cannot be "City/"'],
    ['equifax: { elements: { employmentCity: null } }', 'employmentCity cannot be "null"'],
    ['equifax: { elements: { city: City } }', 'equifax.elements.city is not read'],
    ['equifax: { hitTypes: {} }', 'equifax.hitTypes is no table'],
    ['equifax: [1]', 'equifax must be a map, not ["1"]'],
    ['transunion: { hitType: Y }', 'transunion.hitType must be a map, not "Y"'],
    ['experian: {}', 'experian is none of equifax, transunion'],
    ['text', 'the file must be a map, not "text"'],
    ['equifax: {', 'Flow map'],
    ['a: 1\na: 2', 'Map keys must be unique'],
  ])('%s', (overrides, problem) => {
    expect(() => readCodeTables(overrides)).toThrow(CodeTableError);
    expect(() => readCodeTables(overrides)).toThrow(problem);
  });

  test('all of them at once', () => {
    const overrides = 'equifax: { hitType: { "1": A }, association: { I: B } }';
    expect(() => readCodeTables(overrides)).toThrow(/hitType\.1 .*; equifax\.association\.I /);
  });
});

test('the example of the operators’ page can be used', () => {
  const page = readFileSync(
    join(import.meta.dirname, '../../../../docs/operations/bureaus.md'),
    'utf8',
  );
  const [, example = ''] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
  const { equifax, transUnion } = readCodeTables(example);
  expect(equifax.codes.portfolioType.get('L')).toBe('LEASE_ACCOUNT');
  expect(equifax.codes.legalItemType.get('XX')).toBeNull();
  expect(equifax.elements.get('employmentIncome')).toBe('Income/Monthly');
  expect(transUnion.codes.error.get('A001')).toBe('credentials');
});

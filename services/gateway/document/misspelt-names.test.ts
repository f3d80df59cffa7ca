import { expect, test } from 'vitest';
import { misspellingsOf } from './misspelt-names.ts';

const NO_OTHERS = new Set<string>();

test.each([
  ['interest_rate', 'interestRate'],
  ['interest-rate', 'interestRate'],
  ['INTEREST_RATE', 'interestRate'],
  ['InterestRate', 'interestRate'],
  ['interestrate', 'interestRate'],
  ['intrestRate', 'interestRate'],
  ['interestRates', 'interestRate'],
  ['intereestRtae', 'interestRate'],
  ['intrestrate_', 'interestRate'],
  ['paymentAmmout', 'paymentAmount'],
  ['downPaymnet', 'downPayment'],
  ['rebat', 'rebate'],
  ['color', 'colour'],
  ['trem', 'term'],
  ['tem', 'term'],
  ['nterestRate', 'interestRate'],
  ['niterestRate', 'interestRate'],
  ['iinterestRate', 'interestRate'],
  ['terms', 'term'],
  ['VIN', 'vin'],
  ['first_payment_date', 'firstPaymentDate'],
  ['document_sha256', 'documentSha256'],
])('%s means %s', (name, known) => {
  expect(misspellingsOf([known], NO_OTHERS)(name)).toBe(known);
});

test.each([
  ['gst', 'pst', 'has three letters'],
  ['vina', 'vin', 'has three letters'],
  ['team', 'term', 'has four letters, one of them replaced'],
  ['trip', 'trim', 'has four letters, one of them replaced'],
  ['stelly', 'style', 'has two slips in five letters'],
  ['basePrice', 'salePrice', 'begins with another letter'],
  ['gear', 'year', 'begins with another letter'],
  ['pstPercent', 'gstPercent', 'begins with another letter'],
  ['lastName', 'firstName', 'has more slips than two'],
  ['maidenName', 'lastName', 'has more slips than two'],
  ['phoneNumber2', 'phoneNumber', 'has another digit'],
  ['documentSha512', 'documentSha256', 'has other digits'],
  ['street', 'streetNo', 'lacks a word'],
  ['tier_id', 'tier', 'has a word more'],
  ['programId', 'program', 'has a word more'],
  ['interestRate'.padEnd(40, 'e'), 'interestRate', 'is much longer'],
  ['', 'term', 'is empty'],
])('%s is not %s, because it %s', (name, known) => {
  expect(misspellingsOf([known], NO_OTHERS)(name)).toBeUndefined();
});

test('a name that the interface has elsewhere is its own, unless it is another’s plural or singular', () => {
  const others = new Set(['deliveredAt', 'creditorId', 'events']);
  const find = misspellingsOf(['deliveryDate', 'creditorIds', 'event'], others);
  expect([...others].map(find)).toEqual([undefined, 'creditorIds', 'event']);
  expect(find('delivered_at')).toBeUndefined();
  expect(find('deliverdDate')).toBe('deliveryDate');
});

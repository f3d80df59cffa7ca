import { expect, test } from 'vitest';
import type { CreditFile } from '../credit-file.ts';
import { maskFile, maskSin } from './mask-file.ts';

test('a number shows its last three digits, whether it was masked before or not', () => {
  expect(maskSin('046454286')).toBe('***-***-286');
  expect(maskSin('046 454 286')).toBe('***-***-286');
  expect(maskSin('***-***-286')).toBe('***-***-286');
});

test('a text of fewer than three digits shows none of them', () => {
  expect(maskSin('12')).toBe('***-***-***');
  expect(maskSin('')).toBe('***-***-***');
});

test.each([
  ['046454286', '***-***-286'],
  ['SIN046-454-286.', 'SIN***-***-286.'],
  ['my number is 046 454 286, not 046454294', 'my number is ***-***-286, not 046454294'],
  ['04 6454 286 and 046–454–286', '***-***-286 and ***-***-286'],
  ['046 - 454 - 286', '***-***-286'],
  ['046  454\u00a0\t286', '***-***-286'],
  ['046-\n454-286', '***-***-286'],
  ['046/454/286, 046_454_286', '***-***-286, ***-***-286'],
  ['046\u2212454\u2212286', '***-***-286'],
  ['(046) 454, 286', '(***-***-286'],
  ['0\u200b46\u00ad454\u2060286', '***-***-286'],
  ['046 454 and 286', '046 454 and 286'],
])('the statement "%s" shows the last three digits of the subject’s number', (statement, shown) => {
  const file: CreditFile = {
    hitType: 'HIT',
    subject: { sin: '046454286', otherNames: [{ lastName: 'Roe' }] },
    trades: [{ balanceAmount: 46454286, monthsReviewed: 0 }],
    consumerStatements: [{ dateReported: '2024-01-31', statement }],
  };
  expect(maskFile(file)).toEqual({
    ...file,
    subject: { ...file.subject, sin: '***-***-286' },
    consumerStatements: [{ dateReported: '2024-01-31', statement: shown }],
  });
});

test.each([undefined, '', '***-***-286'])(
  'without the whole number of the subject, here %s, other texts stay as they are',
  (sin) => {
    const file = { subject: { ...(sin !== undefined && { sin }), lastName: 'A 286 ***' } };
    expect(maskFile(file)).toEqual(file);
  },
);

test('without the number of the subject, each number of a statement that could be one is masked', () => {
  const statement =
    'My SIN is 046 454 286, 046\u00a0–\u00a0454.286 or 046454294; call 416-555-0100, file A046454286';
  const shown =
    'My SIN is ***-***-286, ***-***-286 or ***-***-294; call 416-555-0100, file A046454286';
  const file: CreditFile = { customerNumber: '046454286', consumerStatements: [{ statement }] };
  expect(maskFile(file)).toEqual({ ...file, consumerStatements: [{ statement: shown }] });
});

import { describe, expect, test } from 'vitest';
import { answerOf, refusalOf } from './answers.ts';
import type { ReceivedInquiry } from './inquiry.ts';

const INQUIRY: ReceivedInquiry = {
  ...{ source: 'EQUIFAX', reference: 'r1', requestNumber: '3', member: 'M1' },
  ...{ firstName: 'Zoë', lastName: 'O’Neil & Sons', sin: '046454286' },
  ...{ dateOfBirth: '1988-07-14', date: '2026-03-02' },
};

const ordinary = (others: Partial<ReceivedInquiry> = {}) =>
  answerOf('ordinary', { ...INQUIRY, ...others });

describe('an answer', () => {
  test('repeats the inquiry, with the characters that XML reserves as references', () => {
    const xml = ordinary();
    expect(xml).toContain('<CustomerReferenceNumber>r1</CustomerReferenceNumber>');
    expect(xml).toContain('<LastName>O’Neil &amp; Sons</LastName>');
    expect(xml).toContain('<SocialInsuranceNumber>046454286</SocialInsuranceNumber>');
    expect(xml).not.toContain('{{');
  });

  test('has no element for what the inquiry lacks', () => {
    const xml = ordinary({ sin: '', reference: '' });
    expect(xml).not.toMatch(/SocialInsuranceNumber|CustomerReferenceNumber/);
  });

  test('of TransUnion has dates without hyphens, and a filler for an unknown number', () => {
    const xml = ordinary({ source: 'TRANSUNION', sin: '' });
    expect(xml).toContain('<Date>20260302</Date>');
    expect(xml).toContain('<DOB>19880714</DOB>');
    expect(xml).toContain('<SIN>000000000</SIN>');
  });
});

test('a refusal names the element that is missing', () => {
  const xml = refusalOf('EQUIFAX', 'tim-tagless', 'City');
  expect(xml).toContain('<AdditionalInformation>City</AdditionalInformation>');
});

test('an answer with a placeholder that does not exist is an error', () => {
  expect(() => refusalOf('EQUIFAX', 'ordinary')).toThrow('has an unknown placeholder {{');
});

import { expect, test } from 'vitest';
import { splitInquiries } from './consumer-inquiries.ts';

test.each([
  'EQUIFAX PERSONAL SOL',
  'Equifax Personal Solutions',
  'EQUIFAX CONSUMER SERVICES',
  'AUTH ECONSUMER REQUE',
  'TRANSUNION INTERACTIVE',
  'TUCI INTERACTIVE',
  'CREDIT KARMA CANADA',
  'CONSUMER DISCLOSURE 4410',
])('an inquiry by %s is one of the consumer', (name) => {
  expect(splitInquiries({ foreignInquiries: [{ memberNameAndNumber: name }] })).toEqual({
    local: [],
    foreign: [],
    ofConsumer: [{ memberNameAndNumber: name }],
  });
});

test.each([
  'FIRST HARBOUR BANK',
  'EQUIFAX CANADA COMMERCIAL',
  'HOUSEHOLD CONSUMER FINANCE',
  'KARMA CREDIT UNION',
  '',
])('an inquiry by %s is one of a creditor', (name) => {
  const localInquiries = [{ customer: { name } }];
  expect(splitInquiries({ localInquiries })).toMatchObject({
    local: localInquiries,
    ofConsumer: [],
  });
});

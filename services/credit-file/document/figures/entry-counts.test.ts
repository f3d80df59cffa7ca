import { expect, test } from 'vitest';
import type { CreditFile, Trade } from '../../credit-file.ts';
import { countEntries } from './entry-counts.ts';

test('an empty file has no entries', () => {
  expect(countEntries({})).toEqual({
    trades: 0,
    openTrades: 0,
    repossessions: 0,
    collections: 0,
    unpaidCollections: 0,
    unpaidCollectionsBalance: undefined,
    bankruptcies: 0,
    activeBankruptcies: 0,
    legalItems: 0,
    unsettledLegalItems: 0,
    securedLoans: 0,
    inquiries: 0,
    consumerInquiries: 0,
    recentInquiries: undefined,
  });
});

test('a collection is unpaid unless it says that it is paid', () => {
  const collections: CreditFile['collections'] = [
    { type: 'PAID', balanceAmount: 5 },
    { type: 'UNPAID', balanceAmount: 40 },
    {},
  ];
  expect(countEntries({ collections })).toMatchObject({
    collections: 3,
    unpaidCollections: 2,
    unpaidCollectionsBalance: 40,
  });
});

test('a bankruptcy is active unless it is discharged, paid or closed', () => {
  const counts = countEntries({
    bankruptcies: [
      { disposition: { type: 'DISCHARGED' } },
      { disposition: { type: 'PROPOSAL_UNDER_BANKRUPTCY_ACT_PAID' } },
      { disposition: { type: 'UNDISCHARGED' } },
      { narratives: ['ABSOLUTE_DISCHARGE'] },
      {},
    ],
  });
  expect(counts).toMatchObject({ bankruptcies: 5, activeBankruptcies: 2 });
});

test('a judgment with a status, or that is satisfied, is settled', () => {
  const counts = countEntries({
    legalItems: [
      { type: 'UNSETTLED_JUDGMENT' },
      { type: 'UNSETTLED_JUDGMENT', status: 'DISMISSED' },
      { type: 'SATISFIED_JUDGMENT' },
    ],
  });
  expect(counts).toMatchObject({ legalItems: 3, unsettledLegalItems: 1 });
});

test('an inquiry is recent in the twelve months up to the date of the file', () => {
  const counts = countEntries({
    requestedDate: '2026-11-15',
    localInquiries: [{ date: '2026-11-15' }, { date: '2025-11-16' }, { date: '2025-11-15' }, {}],
    foreignInquiries: [{ date: '2026-01-01' }],
  });
  expect(counts).toMatchObject({ inquiries: 5, recentInquiries: 3 });
});

test('a bad debt or a repossession is no open account', () => {
  const counts = countEntries({
    trades: [
      { paymentRate: 'PAID_AS_AGREED_AND_UP_TO_DATE' },
      { paymentRate: 'BAD_DEBT_PLACED_FOR_COLLECTION' },
      { paymentRate: 'REPOSSESSION' },
      { narratives: ['VOLUNTARY_REPOSSESSION'] },
    ],
  });
  expect(counts).toMatchObject({ trades: 4, openTrades: 1, repossessions: 2 });
});

test('a repossession that was redeemed is none', () => {
  const trades: Trade[] = [
    {
      paymentRate: 'PAID_AS_AGREED_AND_UP_TO_DATE',
      narratives: ['REDEEMED_REPOSSESSION', 'INVOLUNTARY_REPOSSESSION'],
    },
  ];
  expect(countEntries({ trades })).toMatchObject({ openTrades: 1, repossessions: 0 });
});

test('an inquiry that the consumer made is not counted among those of creditors', () => {
  const counts = countEntries({
    requestedDate: '2026-11-15',
    localInquiries: [
      { date: '2026-11-01', customer: { name: 'EQUIFAX PERSONAL SOL' } },
      { date: '2026-11-01', customer: { name: 'LAKEHEAD BANK' } },
    ],
    foreignInquiries: [{ date: '2026-11-01', memberNameAndNumber: 'TRANSUNION INTERACTIVE 4410' }],
  });
  expect(counts).toMatchObject({ inquiries: 1, recentInquiries: 1, consumerInquiries: 2 });
});

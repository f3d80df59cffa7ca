import { expect, test } from 'vitest';
import { countEntries } from './entry-counts.ts';

test('an empty file has no entries', () => {
  expect(countEntries({})).toEqual({
    trades: 0,
    openTrades: 0,
    collections: 0,
    unpaidCollections: 0,
    bankruptcies: 0,
    activeBankruptcies: 0,
    legalItems: 0,
    unsettledLegalItems: 0,
    securedLoans: 0,
    inquiries: 0,
    recentInquiries: undefined,
  });
});

test('a collection is unpaid unless it says that it is paid', () => {
  const counts = countEntries({ collections: [{ type: 'PAID' }, { type: 'UNPAID' }, {}] });
  expect(counts).toMatchObject({ collections: 3, unpaidCollections: 2 });
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

/** How many entries a file's sections have. */
import type { CreditFile } from '../../credit-file.ts';
import { sum } from './account-totals.ts';
import { isOpen, isRepossessed } from './accounts.ts';
import { splitInquiries } from './consumer-inquiries.ts';

export interface EntryCounts {
  trades: number;
  openTrades: number;
  /** Accounts whose security the creditor has taken, and that were not redeemed. */
  repossessions: number;
  collections: number;
  unpaidCollections: number;
  /** What is owed of them; undefined if none reports it. */
  unpaidCollectionsBalance: number | undefined;
  bankruptcies: number;
  /** Neither discharged nor paid, as far as is reported. */
  activeBankruptcies: number;
  legalItems: number;
  unsettledLegalItems: number;
  securedLoans: number;
  /** Those of creditors. */
  inquiries: number;
  /** Those that the consumer made. */
  consumerInquiries: number;
  /** Those of creditors in the twelve months up to the file's date; undefined if the file has no date. */
  recentInquiries: number | undefined;
}

const ENDED_BANKRUPTCY: readonly string[] = [
  'CONSUMER_DEBT_COUNSELING_CLOSED',
  'COURT_CONSOLIDATIONS_PAID',
  'DEBTOR_ASSISTANCE_POOL_ACT_PAID',
  'DISCHARGED',
  'ORDERLY_PAYMENT_OF_DEBT_PAID',
  'ORDERLY_PAYMENT_OF_DEBT_SETTLED',
  'PROPOSAL_UNDER_BANKRUPTCY_ACT_PAID',
  'VOLUNTARY_DEPOSIT_CLOSED',
];

export function countEntries(file: CreditFile): EntryCounts {
  const trades = file.trades ?? [];
  const collections = file.collections ?? [];
  const bankruptcies = file.bankruptcies ?? [];
  const legalItems = file.legalItems ?? [];
  // PAID is the only proof of payment: a collection of unknown type counts as unpaid.
  const unpaid = collections.filter(({ type }) => type !== 'PAID');
  const { local, foreign, ofConsumer } = splitInquiries(file);
  const inquiryDates = [...local, ...foreign].map(({ date }) => date ?? '');
  const yearBefore = file.requestedDate && oneYearBefore(file.requestedDate);
  return {
    trades: trades.length,
    openTrades: trades.filter(isOpen).length,
    repossessions: trades.filter(isRepossessed).length,
    collections: collections.length,
    unpaidCollections: unpaid.length,
    unpaidCollectionsBalance: sum(unpaid.map(({ balanceAmount }) => balanceAmount)),
    bankruptcies: bankruptcies.length,
    activeBankruptcies: bankruptcies.filter(
      ({ disposition, narratives }) =>
        !ENDED_BANKRUPTCY.includes(disposition?.type ?? '') &&
        !narratives?.includes('ABSOLUTE_DISCHARGE'),
    ).length,
    legalItems: legalItems.length,
    unsettledLegalItems: legalItems.filter(
      ({ type, status }) => type !== 'SATISFIED_JUDGMENT' && status === undefined,
    ).length,
    securedLoans: file.securedLoans?.length ?? 0,
    inquiries: inquiryDates.length,
    consumerInquiries: ofConsumer.length,
    recentInquiries: yearBefore
      ? inquiryDates.filter((date) => date > yearBefore).length
      : undefined,
  };
}

/** Calendar dates compare as texts, so 29 February becomes a date that need not exist. */
function oneYearBefore(date: string): string {
  return `${String(Number(date.slice(0, 4)) - 1).padStart(4, '0')}${date.slice(4)}`;
}

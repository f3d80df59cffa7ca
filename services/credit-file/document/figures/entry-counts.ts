/** How many entries a file's sections have. */
import type { CreditFile } from '../../credit-file.ts';
import { isOpen } from './accounts.ts';

export interface EntryCounts {
  trades: number;
  openTrades: number;
  collections: number;
  unpaidCollections: number;
  bankruptcies: number;
  /** Neither discharged nor paid, as far as is reported. */
  activeBankruptcies: number;
  legalItems: number;
  unsettledLegalItems: number;
  securedLoans: number;
  inquiries: number;
  /** In the twelve months up to the file's date; undefined if the file has no date. */
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
  const inquiryDates = [...(file.localInquiries ?? []), ...(file.foreignInquiries ?? [])].map(
    ({ date }) => date ?? '',
  );
  const yearBefore = file.requestedDate && oneYearBefore(file.requestedDate);
  return {
    trades: trades.length,
    openTrades: trades.filter(isOpen).length,
    collections: collections.length,
    // PAID is the only proof of payment: a collection of unknown type counts as unpaid.
    unpaidCollections: collections.filter(({ type }) => type !== 'PAID').length,
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
    recentInquiries: yearBefore
      ? inquiryDates.filter((date) => date > yearBefore).length
      : undefined,
  };
}

/** Calendar dates compare as texts, so 29 February becomes a date that need not exist. */
function oneYearBefore(date: string): string {
  return `${String(Number(date.slice(0, 4)) - 1).padStart(4, '0')}${date.slice(4)}`;
}

/** Trades of the personas' files. */
import type { Trade } from '../../credit-file.ts';

/** A card that is paid as agreed. */
export const CARD: Trade = {
  dateReported: '2026-02-14',
  creditor: { id: '481ON00123', name: 'LAKEHEAD BANK VISA', phoneNumber: '8005550143' },
  accountNumber: '450231...4471',
  association: 'INDIVIDUAL',
  highCreditAmount: 7_500,
  paymentTermAmount: 62,
  balanceAmount: 1_843,
  pastDueAmount: 0,
  monthsReviewed: 71,
  dateOpened: '2019-04-09',
  dateLastActivityOrPayment: '2026-02-02',
  portfolioType: 'REVOLVING_OR_OPTION',
  paymentRate: 'PAID_AS_AGREED_AND_UP_TO_DATE',
  count30DaysPastDue: 0,
  count60DaysPastDue: 0,
  count90DaysPastDue: 0,
  narratives: ['AMOUNT_IN_HC_COLUMN_IS_CREDIT_LIMIT', 'MONTHLY_PAYMENTS'],
};

/** A car loan. */
const CAR_LOAN: Trade = {
  ...CARD,
  creditor: { id: '650FA00877', name: 'FIRST PRAIRIE FINANCE', phoneNumber: '2045550117' },
  accountNumber: '70021988',
  association: 'JOINT',
  highCreditAmount: 28_950,
  paymentTermAmount: 286,
  balanceAmount: 16_204,
  monthsReviewed: 31,
  dateOpened: '2023-07-21',
  portfolioType: 'INSTALMENT',
  narratives: ['AUTO_LOAN', 'BI_WEEKLY_PAYMENTS'],
};

const LINE_OF_CREDIT: Trade = {
  ...CARD,
  creditor: { id: '481BB00011', name: 'HARBOUR CREDIT UNION', phoneNumber: '9025550162' },
  accountNumber: '5501-99',
  highCreditAmount: 15_000,
  balanceAmount: 9_650,
  portfolioType: 'LINE_OF_CREDIT',
  narratives: ['PERSONAL_LINE_OF_CREDIT', 'INTEREST_PAYMENT_ONLY'],
};

const MORTGAGE: Trade = {
  ...CARD,
  creditor: { id: '481BB00700', name: 'NORTHERN TRUST MORTGAGES', phoneNumber: '4165550121' },
  accountNumber: 'M-200731',
  association: 'JOINT',
  highCreditAmount: 412_000,
  paymentTermAmount: 2_214,
  balanceAmount: 371_548,
  dateOpened: '2020-07-31',
  portfolioType: 'MORTGAGE',
  narratives: ['MORTGAGE', 'MONTHLY_PAYMENTS'],
};

const LEASE: Trade = {
  ...CARD,
  creditor: { id: '650FA00044', name: 'AURORA AUTO LEASING', phoneNumber: '7055550188' },
  accountNumber: 'L88412',
  association: 'HAS_CO_SIGNER',
  highCreditAmount: 18_400,
  paymentTermAmount: 389,
  balanceAmount: 6_100,
  portfolioType: 'LEASE_ACCOUNT',
  narratives: ['LEASE_ACCOUNT', 'MONTHLY_PAYMENTS'],
};

const PHONE: Trade = {
  ...CARD,
  creditor: { id: '481UT00009', name: 'TUNDRA MOBILE', phoneNumber: '8665550107' },
  accountNumber: '6135550100',
  association: 'UNDESIGNATED',
  highCreditAmount: 210,
  paymentTermAmount: 85,
  balanceAmount: 85,
  portfolioType: 'OPEN_ACCOUNT',
  narratives: ['MONTHLY_PAYMENTS'],
};

/** One trade of each kind. */
export const TRADES: readonly Trade[] = [CARD, CAR_LOAN, LINE_OF_CREDIT, MORTGAGE, LEASE, PHONE];

/** Trades of somebody who pays late, one for each rate below the best, and one without a rate. */
export const LATE_TRADES: readonly Trade[] = [
  lateTrade('NOT_MORE_THAN_ONE_PAYMENT_PAST_DUE', 1),
  lateTrade('NOT_MORE_THAN_TWO_PAYMENTS_PAST_DUE', 2),
  lateTrade('THREE_OR_MORE_PAYMENTS_PAST_DUE', 3),
  lateTrade('AT_LEAST_120_DAYS_OVERDUE_BUT_NOT_RATED_9', 4),
  lateTrade('MAKING_REGULAR_PAYMENTS_UNDER_CONSOLIDATION_ORDER', 5),
  { ...lateTrade('REPOSSESSION', 6), narratives: ['INVOLUNTARY_REPOSSESSION'] },
  { ...lateTrade('BAD_DEBT_PLACED_FOR_COLLECTION', 7), narratives: ['WRITTEN_OFF'] },
  { ...lateTrade('TOO_NEW_TO_RATE', 0), association: 'TERMINATED' },
  withStatus('LOST_OR_STOLEN_CARD'),
  withStatus('DISPUTE_RESOLUTION_PENDING'),
];

function lateTrade(paymentRate: NonNullable<Trade['paymentRate']>, monthsLate: number): Trade {
  return {
    ...CARD,
    accountNumber: `LATE-${monthsLate}`,
    pastDueAmount: 62 * monthsLate,
    paymentRate,
    count30DaysPastDue: monthsLate,
    count60DaysPastDue: Math.max(0, monthsLate - 1),
    count90DaysPastDue: Math.max(0, monthsLate - 2),
    ...(monthsLate > 0 && {
      previousHighPaymentRates: [
        { date: '2025-11-01', rate: 'THREE_OR_MORE_PAYMENTS_PAST_DUE' },
        { date: '2025-06-01', rate: 'NOT_MORE_THAN_ONE_PAYMENT_PAST_DUE' },
      ],
    }),
  };
}

function withStatus(status: NonNullable<Trade['status']>): Trade {
  const { paymentRate: _, ...card } = CARD;
  return { ...card, accountNumber: status.slice(0, 4), status };
}

/** So many trades, each with an account number and amounts of its own. */
export function makeManyTrades(count: number): Trade[] {
  const kinds = [...TRADES, ...LATE_TRADES];
  return Array.from({ length: count }, (_, index) => {
    const kind = kinds[index % kinds.length] ?? CARD;
    return {
      ...kind,
      accountNumber: `T${String(index + 1).padStart(6, '0')}`,
      balanceAmount: (kind.balanceAmount ?? 0) + index,
      monthsReviewed: index % 100,
    };
  });
}

/** Credit files for tests of documents. The persons do not exist, and no number is one that is issued. */
import type { CreditFile, Trade } from '../credit-file.ts';

/** A file with a value in every field. */
export const WHOLE_FILE: CreditFile = {
  source: 'EQUIFAX',
  id: '3005551234',
  customerNumber: '999ZB12345',
  language: 'EN',
  fileSinceDate: '1998-03-01',
  lastActivityDate: '2026-10-02',
  requestedDate: '2026-11-15',
  bureau: { id: '8800', name: 'National Bureau' },
  hitType: 'HIT',
  hitStrength: 'Regular hit',
  matched: 'PARTIAL',
  differences: ['LAST_NAME', 'DATE_OF_BIRTH_MISSING'],
  warnings: [
    { code: '1', text: 'POSSIBLE TRUE NAME FRAUD', source: 'FRAUD' },
    { code: '4', text: 'CAUTION - INVALID BIRTHDATE/AGE', source: 'DATA' },
    { text: 'CALL BEFORE ANY NEW CREDIT', source: 'MESSAGE' },
  ],
  alsoReported: [
    { section: 'CNGarnishments', count: 1 },
    { section: 'CNMarriages/CNMarriage', count: 71 },
  ],
  datesWithoutDay: ['fileSinceDate'],
  subject: {
    firstName: 'Éloïse',
    middleName: 'Anne',
    lastName: 'Lefebvre-Côté',
    suffix: 'Jr',
    sin: '046454286',
    dateOfBirth: '1981-07-23',
    dateOfDeath: '2026-01-31',
    otherNames: [
      { type: 'FORMER_NAME', firstName: 'Éloïse', lastName: 'Gagné' },
      { type: 'ALSO_KNOWN_AS', firstName: 'Elo', lastName: 'Lefebvre' },
    ],
    addressHistory: [
      {
        dateReported: '2024-05-01',
        datesWithoutDay: ['dateReported'],
        streetNo: '1250',
        streetName: 'boulevard René-Lévesque Ouest',
        city: 'Montréal',
        province: 'QC',
        postalCode: 'H3B4W8',
      },
      {
        dateReported: '2015-02-01',
        streetNo: '12',
        streetName: 'KING ST W',
        city: 'TORONTO',
        province: 'ON',
      },
    ],
    employmentHistory: [
      {
        dateEmployed: '2019-09-01',
        dateLeft: '2025-06-30',
        employerName: 'Atelier du Vieux-Port',
        occupation: 'Ébéniste',
        city: 'Québec',
        province: 'QC',
        monthlyIncome: 4350,
      },
    ],
  },
  scores: [
    {
      number: 686,
      value: '686',
      narratives: ['Beacon credit score'],
      reasons: [
        'Ratio of balances to credit limits is high',
        'Derogatory public record or collection filed',
        'Length of time accounts have been established',
      ],
      rejectCodes: ['E7'],
      rejectReasons: [{ code: 'E7', text: 'Insufficient credit information' }],
    },
    { number: -12, sign: '-', value: '12', narratives: ['Bankruptcy navigator'] },
    { value: 'N/A', narratives: ['Third score'] },
  ],
  bankruptcies: [
    {
      dateFiled: '2012-04-01',
      court: { id: '471VF00012', name: 'Superior Court of Québec' },
      caseNumber: '41-1234567 TRUSTEE RAYMOND',
      type: 'INDIVIDUAL',
      filer: 'JOINT',
      disposition: { type: 'DISCHARGED', date: '2013-02-01' },
      liabilityAmount: 48250,
      assetAmount: 1200.5,
      narratives: ['SUMMARY_ASSIGNMENT', 'ABSOLUTE_DISCHARGE'],
    },
  ],
  collections: [
    {
      type: 'UNPAID',
      assignedDate: '2025-03-01',
      agency: { id: '481YC00045', name: 'Recouvrements Laurentides' },
      agencyAccountNumber: 'L-99812',
      creditor: { accountNumberAndOrName: 'TELCO 5551234' },
      industry: 'Utilities',
      reason: 'UNKNOWN',
      originalAmount: 612,
      balanceAmount: 412,
      dateOfLastPayment: '2025-01-01',
      datePaid: '2026-02-01',
      narratives: ['SUBJECT_DISPUTES_THIS_ACCOUNT'],
    },
  ],
  legalItems: [
    {
      type: 'UNSETTLED_JUDGMENT',
      dateFiled: '2021-08-01',
      court: { id: '481VC00099', name: 'Small Claims Court Toronto' },
      caseNumber: 'SC-21-4471',
      status: 'SETTLED',
      dateSatisfied: '2022-01-01',
      amount: 3900,
      defendant: 'Éloïse Lefebvre-Côté',
      plaintiff: 'Maple Furniture Ltd',
      lawyerNameAddress: 'Roy & Singh, 100 Queen St, Toronto',
      narratives: ['SETTLEMENT_MADE'],
    },
  ],
  securedLoans: [
    {
      dateFiled: '2023-06-01',
      court: { id: '481PR00011', name: 'Personal Property Registry' },
      creditor: { nameAddressAndAmount: 'Harbour Auto Finance, Halifax NS, $28,400' },
      industry: 'Automotive',
      maturityDate: '2028-06-01',
      narratives: ['SECURITY_DISPOSITION_UNKNOWN'],
    },
  ],
  trades: [
    {
      dateReported: '2026-10-01',
      creditor: { id: '481BB00123', name: 'First Harbour Bank', phoneNumber: '416-555-0101' },
      accountNumber: '...4471',
      association: 'JOINT',
      highCreditAmount: 10_000,
      paymentTermAmount: 125,
      balanceAmount: 4300,
      pastDueAmount: 250,
      monthsReviewed: 48,
      dateOpened: '2018-02-01',
      dateLastActivityOrPayment: '2026-09-12',
      portfolioType: 'REVOLVING_OR_OPTION',
      paymentRate: 'NOT_MORE_THAN_ONE_PAYMENT_PAST_DUE',
      status: 'DISPUTE_RESOLUTION_PENDING',
      count30DaysPastDue: 3,
      count60DaysPastDue: 1,
      count90DaysPastDue: 0,
      creditLimitAmount: 10_500,
      accountType: 'SECURED',
      dateFirstDelinquency: '2021-12-03',
      paymentProfile: [
        { month: '2026-10', rate: 'NOT_MORE_THAN_ONE_PAYMENT_PAST_DUE' },
        { month: '2026-09', rate: 'PAID_AS_AGREED_AND_UP_TO_DATE' },
        { month: '2026-08', rate: 'PAID_AS_AGREED_AND_UP_TO_DATE' },
        { month: '2026-07' },
        { month: '2026-06', status: 'ADJUSTMENT_PENDING' },
        { month: '2026-05', rate: 'BAD_DEBT_PLACED_FOR_COLLECTION' },
      ],
      previousHighPaymentRates: [
        { date: '2026-04-01', rate: 'NOT_MORE_THAN_TWO_PAYMENTS_PAST_DUE' },
        { date: '2026-03-01', rate: 'NOT_MORE_THAN_ONE_PAYMENT_PAST_DUE' },
        { date: '2022-01-01', rate: 'THREE_OR_MORE_PAYMENTS_PAST_DUE' },
      ],
      narratives: ['AMOUNT_IN_HC_COLUMN_IS_CREDIT_LIMIT', 'MONTHLY_PAYMENTS'],
    },
    {
      dateReported: '2026-10-01',
      creditor: { id: '481FA00077', name: 'Harbour Auto Finance' },
      accountNumber: '...9001',
      association: 'INDIVIDUAL',
      highCreditAmount: 28_400,
      paymentTermAmount: 260,
      balanceAmount: 17_812,
      pastDueAmount: 0,
      monthsReviewed: 28,
      dateOpened: '2023-06-01',
      dateLastActivityOrPayment: '2026-09-28',
      portfolioType: 'INSTALMENT',
      paymentRate: 'PAID_AS_AGREED_AND_UP_TO_DATE',
      count30DaysPastDue: 0,
      count60DaysPastDue: 0,
      count90DaysPastDue: 0,
      narratives: ['AUTO_LOAN', 'BI_WEEKLY_PAYMENTS'],
    },
  ],
  localInquiries: [
    {
      date: '2026-11-02',
      customer: { id: '481BB00123', name: 'First Harbour Bank', phoneNumber: '416-555-0101' },
    },
    { date: '2024-11-02', customer: { id: '999ZB12345', name: 'Creditlane Dealer' } },
    { date: '2026-08-14', customer: { id: '481ZC00001', name: 'EQUIFAX PERSONAL SOL' } },
  ],
  foreignInquiries: [
    { date: '2026-06-20', memberNameAndNumber: 'Coast Credit Union 4410', industry: 'Finance' },
  ],
  specialServices: [
    {
      type: 'LOST_OR_STOLEN_WALLET',
      dateReported: '2025-12-01',
      customer: { id: '481SS00001', name: 'Bureau Alert Desk', phoneNumber: '800-555-0199' },
    },
  ],
  consumerStatements: [
    {
      dateReported: '2025-12-05',
      dateToBePurged: '2031-12-05',
      statement:
        'My wallet was stolen in November 2025. Please call 514-555-0144 before you grant credit.',
    },
  ],
};

const CREDITORS = [
  'First Harbour Bank',
  'Caisse du Vieux-Port',
  'Maple Leaf Mobile',
  'Prairie Credit Union',
];
const PORTFOLIO_TYPES = [
  'REVOLVING_OR_OPTION',
  'INSTALMENT',
  'OPEN_ACCOUNT',
  'LINE_OF_CREDIT',
  'MORTGAGE',
] as const;
const RATES = [
  'PAID_AS_AGREED_AND_UP_TO_DATE',
  'PAID_AS_AGREED_AND_UP_TO_DATE',
  'TOO_NEW_TO_RATE',
  'NOT_MORE_THAN_ONE_PAYMENT_PAST_DUE',
  'BAD_DEBT_PLACED_FOR_COLLECTION',
] as const;

/** The whole file with `count` trades, which differ from each other; the last is "...T<count>". */
export function fileWithTrades(count: number): CreditFile {
  return { ...WHOLE_FILE, trades: Array.from({ length: count }, (_, index) => makeTrade(index)) };
}

function makeTrade(index: number): Trade {
  const pick = <T>(values: readonly T[]) => values[index % values.length] as T;
  const month = String((index % 12) + 1).padStart(2, '0');
  return {
    ...WHOLE_FILE.trades?.[0],
    creditor: { id: `481BB${10_000 + index}`, name: pick(CREDITORS), phoneNumber: '416-555-0101' },
    accountNumber: `...T${index + 1}`,
    portfolioType: pick(PORTFOLIO_TYPES),
    paymentRate: pick(RATES),
    balanceAmount: 137 * index,
    pastDueAmount: index % 5 === 3 ? 90 : 0,
    dateOpened: `20${String(index % 25).padStart(2, '0')}-${month}-01`,
    previousHighPaymentRates:
      index % 5 === 3
        ? [{ date: `2025-${month}-01`, rate: 'NOT_MORE_THAN_ONE_PAYMENT_PAST_DUE' }]
        : index % 7 === 0
          ? [
              {
                date: `2026-${String((index % 10) + 1).padStart(2, '0')}-01`,
                rate: 'THREE_OR_MORE_PAYMENTS_PAST_DUE',
              },
            ]
          : [],
    status: index % 9 === 0 ? 'ADJUSTMENT_PENDING' : 'ACCOUNT_IS_INACTIVE',
  };
}

/** What a bureau answers for a person whom it does not know. */
export const NO_HIT_FILE: CreditFile = {
  source: 'TRANSUNION',
  id: '7',
  language: 'EN',
  requestedDate: '2026-11-15',
  hitType: 'NO_HIT',
};

/**
 * Equifax Canada's codes, by the values of the interface. A code that is not publicly known begins with 9:
 * adapters have no such code in their tables and have to read the description.
 */

/** The attributes of a coded element; none without a value. */
type Coded = { code?: string; description?: string };

const KNOWN_CODES: Readonly<Record<string, string>> = {
  // HitCode
  NO_CREDIT_FILE_REQUESTED: '0',
  HIT: '1',
  NO_HIT: '2',
  MANUAL_FILE: '3',
  CONSUMER_DECLARATION: '4',
  REFERRED_FILE: '5',
  CONTACT_BUREAU_COLLECTION_DEPARTMENT: '6',
  CREDIT_LOCK: '7',
  // CNOtherName
  ALSO_KNOWN_AS: 'AK',
  // PaymentRate: a rate or, in its place, a status
  TOO_NEW_TO_RATE: '0',
  PAID_AS_AGREED_AND_UP_TO_DATE: '1',
  NOT_MORE_THAN_ONE_PAYMENT_PAST_DUE: '2',
  NOT_MORE_THAN_TWO_PAYMENTS_PAST_DUE: '3',
  THREE_OR_MORE_PAYMENTS_PAST_DUE: '4',
  AT_LEAST_120_DAYS_OVERDUE_BUT_NOT_RATED_9: '5',
  MAKING_REGULAR_PAYMENTS_UNDER_CONSOLIDATION_ORDER: '7',
  REPOSSESSION: '8',
  BAD_DEBT_PLACED_FOR_COLLECTION: '9',
  ACCOUNT_IS_INACTIVE: 'A',
  LOST_OR_STOLEN_CARD: 'B',
  CONTACT_MEMBER_FOR_RATE: 'C',
  ADJUSTMENT_PENDING: 'J',
  // CNLegalItem
  UNSETTLED_JUDGMENT: 'AJ',
  SATISFIED_JUDGMENT: 'SJ',
};

/** Codes of values that other elements have, too, with other codes. */
const CODES_BY_ELEMENT: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  PaymentRate: { DISPUTE_RESOLUTION_PENDING: 'S' },
  PortfolioType: {
    REVOLVING_OR_OPTION: 'R',
    INSTALMENT: 'I',
    OPEN_ACCOUNT: 'O',
    LINE_OF_CREDIT: 'C',
    MORTGAGE: 'M',
  },
  Association: { INDIVIDUAL: 'I', JOINT: 'J', UNDESIGNATED: 'U', TERMINATED: 'T' },
  Narrative: {
    INCLUDED_IN_BANKRUPTCY: 'AK',
    AUTO_LOAN: 'AO',
    SECURED_LOAN: 'AW',
    AMOUNT_IN_HC_COLUMN_IS_CREDIT_LIMIT: 'AZ',
    SUBJECT_DISPUTES_THIS_ACCOUNT: 'BB',
    SETTLEMENT_MADE: 'BI',
    ACCOUNT_PAID: 'CX',
    DISPOSITION_UNKNOWN: 'CE',
    MONTHLY_PAYMENTS: 'EX',
    BI_WEEKLY_PAYMENTS: 'EY',
    DEFERRED_PAYMENT: 'FV',
    SECURITY_DISPOSITION_UNKNOWN: 'GB',
  },
  Type: { INDIVIDUAL: 'I', BUSINESS: 'B' },
  Filer: { SUBJECT: 'S', JOINT: 'J' },
  IntentOrDisposition: { DISCHARGED: 'A', UNDISCHARGED: 'B' },
  CNCollection: { PAID: 'PC', UNPAID: 'UC' },
  Reason: { UNKNOWN: 'U', CHECKED: 'C', OTHER: 'O', PAID: 'P', SETTLED: 'S' },
  Status: { SETTLED: 'S', DISMISSED: 'D' },
};

/** Descriptions whose wording differs from that of the interface. */
const WORDINGS: Readonly<Record<string, string>> = {
  AUTO_LOAN: 'Auto',
  SECURED_LOAN: 'Secured',
  DEFERRED_PAYMENT: 'Deferred payment plan',
  AMOUNT_IN_HC_COLUMN_IS_CREDIT_LIMIT: 'Amount in h/c column is credit limit',
  LOAN_WAS_PAID_OUT_BY_A_THIRD_PARTY: 'Loan was paid out by a 3rd party',
  SECURITY_DISPOSITION_UNKNOWN: 'Security deposit unknown',
};

/**
 * The attributes of an element for a value of the interface.
 * @param elementName decides the code where two elements have the same value
 */
export function codeOf(elementName: string, value: string | undefined): Coded {
  if (value === undefined) return {};
  const code = CODES_BY_ELEMENT[elementName]?.[value] ?? KNOWN_CODES[value];
  return { code: code ?? makeCode(value), description: describe(value) };
}

/** A code in the place of one that is not publicly known: 9 and the initials of the value's words. */
function makeCode(value: string): string {
  const initials = value.split('_').map((word) => word.charAt(0));
  return `9${initials.join('')}`;
}

function describe(value: string): string {
  const words = value
    .toLowerCase()
    .replaceAll('_', ' ')
    .replace('consumers', "consumer's")
    .replace('co applicants', "co-applicant's");
  return WORDINGS[value] ?? words.charAt(0).toUpperCase() + words.slice(1);
}

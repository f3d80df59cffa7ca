/** TransUnion Canada's answers in the wire format: credit files and errors. */
import type { CreditFile, Trade } from '../credit-file.ts';
import { element, group, list, text } from '../xml-text.ts';

export interface TransUnionAnswerOptions {
  /** Inside a SOAP 1.1 envelope, or `REL4Report` as the root. */
  envelope?: 'soap' | 'root';
  /** The reference of the request, which the answer repeats. */
  reference?: string;
}

const NAMESPACE = 'http://www.transunion.ca/WS/TU4R';
const SOAP_NAMESPACE = 'http://schemas.xmlsoap.org/soap/envelope/';
/** The product of a credit file with scores. */
const PRODUCT = '07000';

/**
 * TransUnion Canada's answer with a credit file. Lost are what is not publicly known of the format: hit types
 * other than HIT and NO_HIT, bankruptcies, legal items, secured loans, employments, foreign inquiries,
 * special services, consumer statements, and most codes of trades and collections.
 */
export function writeTransUnionAnswer(
  file: CreditFile,
  options: TransUnionAnswerOptions = {},
): string {
  return answer(writeHead(file, options), options, group('TU_FFR_Report', writeReport(file)));
}

/** TransUnion Canada's answer to an inquiry of which it makes no credit file; its HTTP status is 200, too. */
export function writeTransUnionError(code: string, description: string): string {
  const error = element('Error', {}, text('Code', code), text('Description', description));
  return answer(writeHead({}, {}), {}, group('Errors', error));
}

function answer(head: string, { envelope = 'soap' }: TransUnionAnswerOptions, contents: string) {
  const xml = '<?xml version="1.0" encoding="UTF-8"?>\n';
  if (envelope === 'root') return `${xml}${element('REL4Report', {}, head, contents)}\n`;
  const result = element('ProcessRequestXMLResult', {}, head, contents);
  const response = element('ProcessRequestXMLResponse', { xmlns: NAMESPACE }, result);
  const body = element('soap:Body', {}, response);
  return `${xml}${element('soap:Envelope', { 'xmlns:soap': SOAP_NAMESPACE }, body)}\n`;
}

function writeHead(file: CreditFile, { reference }: TransUnionAnswerOptions): string {
  return [
    text('UserReference', reference),
    text('MemberCode', file.customerNumber),
    day('Date', file.requestedDate),
    text('Time', '093000'),
    text('Product', PRODUCT),
  ].join('');
}

/** A SIN that TransUnion does not know. */
const NO_SIN = '000000000';

function writeReport(file: CreditFile): string {
  const { subject = {} } = file;
  const name = [
    text('LastName', subject.lastName),
    text('FirstName', subject.firstName),
    text('MiddleName', subject.middleName),
  ].join('');
  return [
    text('Hit', file.hitType && (file.hitType === 'HIT' ? 'Y' : 'N')),
    day('OnFileDate', file.fileSinceDate),
    // The bureau fills attributes with blanks at the end.
    name && group('Names', element('Name', { NameType: 'Primary ' }, name)),
    group(
      'PersonalInformation',
      subject.lastName === undefined ? '' : text('SIN', subject.sin ?? NO_SIN),
      day('DOB', subject.dateOfBirth),
    ),
    list('Addresses', subject.addressHistory, (it) =>
      element(
        'Address',
        { AddrType: 'Personal ' },
        text('Street', [it.streetNo, it.streetName].filter(Boolean).join(' ') || undefined),
        text('City', it.city),
        text('Prov', it.province),
        text('Postal', it.postalCode),
        day('DateReported', it.dateReported),
      ),
    ),
    list('Collections', file.collections, writeCollection),
    list('Trades', file.trades, writeTrade),
    list('Inquiries', file.localInquiries, ({ customer, date }) =>
      element(
        'Inquiry',
        {},
        text('MemberCode', customer?.id),
        text('MemberName', customer?.name),
        day('Date', date),
      ),
    ),
    list('ScoreProducts', file.scores, writeScore),
  ].join('');
}

function writeCollection(it: NonNullable<CreditFile['collections']>[number]): string {
  return element(
    'Collection',
    {},
    text('MemberName', it.agency?.name),
    text('Account', it.agencyAccountNumber),
    text('Creditor', it.creditor?.accountNumberAndOrName),
    day('DateReported', it.assignedDate),
    day('DatePaidOut', it.datePaid),
    wholeNumber('CurrentBalance', it.balanceAmount),
    wholeNumber('OriginalAmount', it.originalAmount),
  );
}

const TYPES: Readonly<Record<string, string>> = {
  REVOLVING_OR_OPTION: 'R',
  INSTALMENT: 'I',
  OPEN_ACCOUNT: 'O',
  MORTGAGE: 'M',
  LINE_OF_CREDIT: 'C',
};
const RATES: Readonly<Record<string, string>> = {
  TOO_NEW_TO_RATE: '00',
  PAID_AS_AGREED_AND_UP_TO_DATE: '01',
  NOT_MORE_THAN_ONE_PAYMENT_PAST_DUE: '02',
  NOT_MORE_THAN_TWO_PAYMENTS_PAST_DUE: '03',
  THREE_OR_MORE_PAYMENTS_PAST_DUE: '04',
  AT_LEAST_120_DAYS_OVERDUE_BUT_NOT_RATED_9: '05',
  MAKING_REGULAR_PAYMENTS_UNDER_CONSOLIDATION_ORDER: '07',
  REPOSSESSION: '08',
  BAD_DEBT_PLACED_FOR_COLLECTION: '09',
};
const FREQUENCIES: Readonly<Record<string, string>> = {
  MONTHLY_PAYMENTS: 'M',
  BI_WEEKLY_PAYMENTS: 'B',
};
const NARRATIVES: Readonly<Record<string, string>> = {
  AMOUNT_IN_HC_COLUMN_IS_CREDIT_LIMIT: 'HC',
  ACCOUNT_PAID: 'PD',
};
/** The months of a payment pattern. */
const MAX_PATTERN_MONTHS = 48;

function writeTrade(it: Trade): string {
  const findCode = (codes: Readonly<Record<string, string>>, values: readonly string[] = []) =>
    values.flatMap((value) => codes[value] ?? []);
  const [narrative1, narrative2] = findCode(NARRATIVES, it.narratives);
  const months = Math.min(it.monthsReviewed ?? 0, MAX_PATTERN_MONTHS);
  return element(
    'Trade',
    {},
    text('MemberCode', it.creditor?.id),
    text('MemberName', it.creditor?.name),
    text('Type', TYPES[it.portfolioType ?? '']),
    text('Account', it.accountNumber),
    text('Joint', it.association === 'INDIVIDUAL' ? 'I' : undefined),
    day('DateOpened', it.dateOpened),
    day('DateRevised', it.dateReported),
    day('DateLastActivity', it.dateLastActivityOrPayment),
    text('MOP', RATES[it.paymentRate ?? '']),
    wholeNumber('Balance', it.balanceAmount),
    wholeNumber('HighCredit', it.highCreditAmount),
    text('Frequency', findCode(FREQUENCIES, it.narratives)[0]),
    wholeNumber('Payment', it.paymentTermAmount),
    text('Narrative1', narrative1),
    text('Narrative2', narrative2),
    wholeNumber('PastDue', it.pastDueAmount),
    text('PaymentPattern', months > 0 ? 'X'.repeat(months) : undefined),
    wholeNumber('MonthsReviewed', it.monthsReviewed),
    wholeNumber('Plus30', it.count30DaysPastDue),
    wholeNumber('Plus60', it.count60DaysPastDue),
    wholeNumber('Plus90', it.count90DaysPastDue),
  );
}

function writeScore(it: NonNullable<CreditFile['scores']>[number]): string {
  const factors = [0, 1, 2, 3].map((index) =>
    // A factor of 0 is none.
    text(`Factor${index + 1}`, it.reasons === undefined ? undefined : (it.reasons[index] ?? '0')),
  );
  const value = it.value ?? it.number?.toString();
  return element('ScoreProduct', {}, text('Product', '00002'), text('Score', value), ...factors);
}

/** A date as in `20240731`. */
function day(name: string, date: string | undefined): string {
  return text(name, date?.replaceAll('-', ''));
}

/** An amount, of which the format has no cents, or a count: without leading zeros. */
function wholeNumber(name: string, value: number | undefined): string {
  return text(name, value === undefined ? undefined : String(Math.round(value)));
}

/** Generates credit files that an answer of a bureau can express without loss. */
import type { components } from '@creditlane/client';
import * as values from '@creditlane/credit-file/credit-file-values';
import fc from 'fast-check';

type CreditFile = components['schemas']['CreditFile'];

/** Any of the fields, none of them needed. */
const some = <T extends object>(fields: { [Name in keyof T]: fc.Arbitrary<T[Name]> }) =>
  fc.record(fields, { requiredKeys: [] }) as fc.Arbitrary<Partial<T>>;
const oneOf = <T>(set: ReadonlySet<T>) => fc.constantFrom(...set);
const someOf = <T>(set: ReadonlySet<T>) => fc.uniqueArray(oneOf(set), { maxLength: 4 });
const list = <T>(item: fc.Arbitrary<T>) => fc.array(item, { maxLength: 3 });

/** Texts without blanks around them, with characters that XML reserves. */
const text = fc
  .oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
    fc.constantFrom('A & B', '<b>', 'a\n\tb', `"it's"`, ']]>', '&amp;', 'CÔTÉ', '0012'),
  )
  .map((it) => it.trim())
  .filter((it) => it !== '');
const dollars = fc.integer({ min: -99_999, max: 9_999_999 });
const count = fc.nat({ max: 999 });
const digits = (length: number) =>
  fc.nat({ max: 10 ** length - 1 }).map((it) => String(it).padStart(length, '0'));
const sin = digits(9).filter((it) => it !== '000000000');
const day = fc
  .date({ min: new Date('1900-01-01'), max: new Date('2100-12-31'), noInvalidDate: true })
  .map((it) => it.toISOString().slice(0, 10));
/** A date of which the format has the month only. */
const month = day.map((it) => `${it.slice(0, 8)}01`);
const party = some({ id: text, name: text });
const score = (narrative: string, reason: fc.Arbitrary<string>) =>
  fc
    .record({ value: fc.nat({ max: 9_999 }), reasons: fc.array(reason, { maxLength: 4 }) })
    .map(({ value, reasons }) => ({
      number: value,
      value: String(value),
      narratives: [narrative],
      reasons,
    }));

const phoneNumber = fc
  .tuple(digits(10), fc.option(digits(3), { nil: undefined }))
  .map(([number, extension]) => (extension === undefined ? number : `${number} ext. ${extension}`));
const member = some({ id: text, name: text, phoneNumber });
const place = { city: text, province: oneOf(values.PROVINCES) };
const name = { firstName: text, middleName: text, lastName: text, suffix: text };

const equifaxTrade = some({
  dateReported: day,
  creditor: member,
  accountNumber: text,
  association: oneOf(values.ASSOCIATIONS),
  highCreditAmount: dollars,
  paymentTermAmount: dollars,
  balanceAmount: dollars,
  pastDueAmount: dollars,
  monthsReviewed: count,
  dateOpened: day,
  dateLastActivityOrPayment: day,
  portfolioType: oneOf(values.PORTFOLIO_TYPES),
  paymentRate: oneOf(values.PAYMENT_RATES),
  count30DaysPastDue: count,
  count60DaysPastDue: count,
  count90DaysPastDue: count,
  previousHighPaymentRates: list(some({ date: month, rate: oneOf(values.PAYMENT_RATES) })),
  narratives: someOf(values.TRADE_NARRATIVES),
});
/** The format has a status in the place of the rate. */
const tradeWithStatus = fc
  .tuple(equifaxTrade, oneOf(values.TRADE_STATUSES))
  .map(([{ paymentRate: _rate, ...trade }, status]) => ({ ...trade, status }));

const equifaxSubject = some({
  ...name,
  sin,
  dateOfBirth: day,
  dateOfDeath: day,
  otherNames: list(some({ type: oneOf(values.OTHER_NAME_TYPES), ...name })),
  addressHistory: list(
    some({ dateReported: month, streetNo: text, streetName: text, ...place, postalCode: text }),
  ),
  employmentHistory: list(
    some({
      ...{ dateEmployed: month, dateLeft: month, employerName: text, occupation: text, ...place },
      monthlyIncome: dollars,
    }),
  ),
});

const equifaxRecords = {
  bankruptcies: list(
    some({
      ...{ dateFiled: month, court: party, caseNumber: text },
      type: oneOf(values.BANKRUPTCY_TYPES),
      filer: oneOf(values.BANKRUPTCY_FILERS),
      disposition: some({ type: oneOf(values.BANKRUPTCY_DISPOSITIONS), date: month }),
      ...{ liabilityAmount: dollars, assetAmount: dollars },
      narratives: someOf(values.BANKRUPTCY_NARRATIVES),
    }),
  ),
  collections: list(
    some({
      type: oneOf(values.COLLECTION_TYPES),
      ...{ assignedDate: month, agency: party, agencyAccountNumber: text, industry: text },
      creditor: some({ accountNumberAndOrName: text }),
      reason: oneOf(values.COLLECTION_REASONS),
      ...{ originalAmount: dollars, balanceAmount: dollars },
      ...{ dateOfLastPayment: month, datePaid: month },
      narratives: someOf(values.COLLECTION_NARRATIVES),
    }),
  ),
  legalItems: list(
    some({
      type: oneOf(values.LEGAL_ITEM_TYPES),
      ...{ dateFiled: month, court: party, caseNumber: text },
      status: oneOf(values.LEGAL_ITEM_STATUSES),
      ...{ dateSatisfied: month, amount: dollars },
      ...{ defendant: text, plaintiff: text, lawyerNameAddress: text },
      narratives: someOf(values.LEGAL_ITEM_NARRATIVES),
    }),
  ),
  securedLoans: list(
    some({
      ...{ dateFiled: month, court: party, industry: text, maturityDate: month },
      creditor: some({ nameAddressAndAmount: text }),
      narratives: someOf(values.SECURED_LOAN_NARRATIVES),
    }),
  ),
};

const equifaxFile = some({
  ...{ id: text, customerNumber: text, bureau: party, subject: equifaxSubject },
  language: oneOf(values.LANGUAGES),
  ...{ fileSinceDate: day, lastActivityDate: day, requestedDate: day },
  ...equifaxRecords,
  trades: list(fc.oneof(equifaxTrade, tradeWithStatus)),
  localInquiries: list(some({ date: day, customer: member })),
  foreignInquiries: list(some({ date: day, memberNameAndNumber: text })),
  specialServices: list(
    some({ type: oneOf(values.SPECIAL_SERVICE_TYPES), dateReported: month, customer: member }),
  ),
  consumerStatements: list(some({ dateReported: month, dateToBePurged: month, statement: text })),
  // The simulator writes the same description for every score.
  scores: list(score('Beacon 9.0', text)),
});

/** Credit files with everything that the simulator writes in an answer of Equifax. */
export const equifaxFiles: fc.Arbitrary<CreditFile> = fc
  .tuple(equifaxFile, oneOf(values.HIT_TYPES))
  .map(([file, hitType]) => withoutEmpty({ source: 'EQUIFAX', hitType, ...file }));

const transUnionNarratives = fc
  .tuple(
    fc.subarray(['AMOUNT_IN_HC_COLUMN_IS_CREDIT_LIMIT', 'ACCOUNT_PAID'] as const),
    fc.subarray(['MONTHLY_PAYMENTS', 'BI_WEEKLY_PAYMENTS'] as const, { maxLength: 1 }),
  )
  .map((parts) => parts.flat());

const transUnionTrade = some({
  ...{ dateReported: day, creditor: party, accountNumber: text },
  association: fc.constant('INDIVIDUAL' as const),
  ...{ highCreditAmount: dollars, paymentTermAmount: dollars, balanceAmount: dollars },
  ...{ pastDueAmount: dollars, monthsReviewed: count },
  ...{ dateOpened: day, dateLastActivityOrPayment: day },
  portfolioType: oneOf(new Set([...values.PORTFOLIO_TYPES].filter((it) => it !== 'LEASE_ACCOUNT'))),
  paymentRate: oneOf(values.PAYMENT_RATES),
  ...{ count30DaysPastDue: count, count60DaysPastDue: count, count90DaysPastDue: count },
  narratives: transUnionNarratives,
});

/** The format has one line for number and name. */
const transUnionAddress = fc
  .tuple(
    some({ dateReported: day, ...place, postalCode: text }),
    fc.option(fc.tuple(digits(4), text), { nil: undefined }),
  )
  .map(([address, street]) =>
    street === undefined ? address : { ...address, streetNo: street[0], streetName: street[1] },
  );

const transUnionCollection = some({
  ...{ assignedDate: day, agencyAccountNumber: text, datePaid: day },
  agency: some({ name: text }),
  creditor: some({ accountNumberAndOrName: text }),
  ...{ originalAmount: dollars, balanceAmount: fc.integer({ min: 1, max: 99_999 }) },
}).map((it) => {
  if (it.datePaid !== undefined) return { ...it, type: 'PAID' as const };
  return it.balanceAmount === undefined ? it : { ...it, type: 'UNPAID' as const };
});

const transUnionFile = some({
  ...{ customerNumber: text, fileSinceDate: day, requestedDate: day },
  subject: some({
    ...{ firstName: text, middleName: text, lastName: text, sin, dateOfBirth: day },
    addressHistory: list(transUnionAddress),
    // The simulator writes a SIN for persons with a last name only.
  }).map(({ sin, ...it }) => (it.lastName && sin ? { ...it, sin } : it)),
  collections: list(transUnionCollection),
  trades: list(transUnionTrade),
  localInquiries: list(some({ date: day, customer: party })),
  scores: list(
    score(
      '00002',
      digits(2).filter((it) => it !== '00'),
    ),
  ),
});

/** Credit files with everything that is publicly known of TransUnion's answer. */
export const transUnionFiles: fc.Arbitrary<CreditFile> = fc
  .tuple(transUnionFile, fc.constantFrom('HIT' as const, 'NO_HIT' as const))
  .map(([file, hitType]) => withoutEmpty({ source: 'TRANSUNION', hitType, ...file }));

/** No format tells an empty list or an empty record from an absent one. */
function withoutEmpty<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  const isEmpty = (it: unknown) =>
    it === undefined || (typeof it === 'object' && it !== null && Object.keys(it).length === 0);
  if (Array.isArray(value)) {
    return value.map(withoutEmpty).filter((it) => !isEmpty(it)) as T;
  }
  const entries = Object.entries(value).map(([key, it]) => [key, withoutEmpty(it)] as const);
  return Object.fromEntries(entries.filter(([, it]) => !isEmpty(it))) as T;
}

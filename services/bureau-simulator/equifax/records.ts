/** The sections of an Equifax answer but header and trades, as XML. */
import type { CreditFile, Subject } from '../credit-file.ts';
import { element, group, list, text } from '../xml-text.ts';
import { codeOf } from './codes.ts';
import { amount, coded, month, narratives, padNumber, party, telephone } from './values.ts';

type Item<Section extends keyof CreditFile> = NonNullable<
  Extract<CreditFile[Section], readonly unknown[] | undefined>
>[number];

/** Codes of the first, the second and every further address or employment. */
const ADDRESS_CODES = ['CA', 'FA', 'F2'];
const EMPLOYMENT_CODES = ['ES', 'EF', 'E2'];

/** What the file says of the person, beyond the header. */
export function writePerson(subject: Subject = {}): string {
  const { otherNames, addressHistory, employmentHistory } = subject;
  return [
    list('CNOtherNames', otherNames, (it) =>
      element('CNOtherName', codeOf('CNOtherName', it.type), nameOf(it)),
    ),
    group('CNAddresses', ...(addressHistory ?? []).map(writeAddress)),
    group('CNEmployments', ...(employmentHistory ?? []).map(writeEmployment)),
  ].join('');
}

/** The elements of a name, in the order of the format. */
export function nameOf(it: Pick<Subject, 'lastName' | 'firstName' | 'middleName' | 'suffix'>) {
  return [
    text('LastName', it.lastName),
    text('FirstName', it.firstName),
    text('MiddleName', it.middleName),
    text('Suffix', it.suffix),
  ].join('');
}

function writeAddress(it: NonNullable<Subject['addressHistory']>[number], index: number): string {
  return element(
    'CNAddress',
    { code: ADDRESS_CODES[index] ?? ADDRESS_CODES.at(-1) },
    month('DateReported', it.dateReported),
    text('CivicNumber', it.streetNo),
    text('StreetName', it.streetName),
    text('City', it.city),
    province(it.province),
    text('PostalCode', it.postalCode),
  );
}

function writeEmployment(
  it: NonNullable<Subject['employmentHistory']>[number],
  index: number,
): string {
  return element(
    'CNEmployment',
    { code: EMPLOYMENT_CODES[index] ?? EMPLOYMENT_CODES.at(-1) },
    text('Employer', it.employerName),
    text('Occupation', it.occupation),
    text('City', it.city),
    province(it.province),
    month('DateEmployed', it.dateEmployed),
    month('DateLeft', it.dateLeft),
    amount('MonthlyIncome', it.monthlyIncome),
  );
}

function province(code: string | undefined): string {
  return code === undefined ? '' : element('Province', { code });
}

export function writeBankruptcy(it: Item<'bankruptcies'>): string {
  return element(
    'CNBankruptcyOrAct',
    {},
    month('DateFiled', it.dateFiled),
    party('CourtId', it.court),
    text('CaseNumberAndTrustee', it.caseNumber),
    coded('Type', it.type),
    coded('Filer', it.filer),
    coded('IntentOrDisposition', it.disposition?.type, month('Date', it.disposition?.date)),
    amount('LiabilityAmount', it.liabilityAmount),
    amount('AssetAmount', it.assetAmount),
    narratives(it.narratives),
  );
}

export function writeCollection(it: Item<'collections'>): string {
  return element(
    'CNCollection',
    codeOf('CNCollection', it.type),
    month('AssignedDate', it.assignedDate),
    party('AgencyId', it.agency),
    text('LedgerNumber', it.agencyAccountNumber),
    group(
      'CollectionCreditor',
      text('AccountNumberAndOrName', it.creditor?.accountNumberAndOrName),
      text('Industry', it.industry),
    ),
    coded('Reason', it.reason),
    amount('OriginalAmount', it.originalAmount),
    amount('BalanceAmount', it.balanceAmount),
    month('DateOfLastPayment', it.dateOfLastPayment),
    month('DatePaid', it.datePaid),
    narratives(it.narratives),
  );
}

export function writeLegalItem(it: Item<'legalItems'>): string {
  return element(
    'CNLegalItem',
    codeOf('CNLegalItem', it.type),
    month('DateFiled', it.dateFiled),
    party('CourtId', it.court),
    text('CaseNumber', it.caseNumber),
    coded('Status', it.status),
    month('DateSatisfied', it.dateSatisfied),
    amount('Amount', it.amount),
    text('Defendant', it.defendant),
    text('Plaintiff', it.plaintiff),
    text('LawyerNameAddress', it.lawyerNameAddress),
    narratives(it.narratives),
  );
}

export function writeSecuredLoan(it: Item<'securedLoans'>): string {
  return element(
    'CNSecuredLoan',
    {},
    month('DateFiled', it.dateFiled),
    party('CourtId', it.court),
    group(
      'SecuredLoanCreditorId',
      text('NameAddressAndAmount', it.creditor?.nameAddressAndAmount),
      text('Industry', it.industry),
    ),
    month('MaturityDate', it.maturityDate),
    narratives(it.narratives),
  );
}

export function writeLocalInquiry(it: Item<'localInquiries'>): string {
  return element('CNLocalInquiry', { date: it.date }, party('CustomerId', it.customer));
}

/** The format has no industry of a foreign inquiry, and the element of the province holds the member's name. */
export function writeForeignInquiry(it: Item<'foreignInquiries'>): string {
  const words = it.memberNameAndNumber?.split(' ') ?? [];
  return element(
    'CNForeignInquiry',
    { date: it.date },
    text('CityNameOrInquiryNumber', words.at(-1)),
    text('InquiryProvince', words.slice(0, -1).join(' ') || undefined),
  );
}

export function writeSpecialService(it: Item<'specialServices'>): string {
  return element(
    'CNSpecialService',
    codeOf('CNSpecialService', it.type),
    month('DateReported', it.dateReported),
    text('CustomerNumber', it.customer?.id),
    text('Name', it.customer?.name),
    telephone(it.customer?.phoneNumber),
  );
}

export function writeConsumerStatement(it: Item<'consumerStatements'>): string {
  return element(
    'CNConsumerStatement',
    {},
    month('DateReported', it.dateReported),
    month('DateToBePurged', it.dateToBePurged),
    text('Statement', it.statement),
  );
}

const SCORE_DIGITS = 5;

/** The product's description is the only narrative of a score. */
export function writeScore(it: Item<'scores'>): string {
  const value = it.value ?? it.number?.toString();
  const isNumeric = value !== undefined && /^\d+$/.test(value);
  const padded = isNumeric ? padNumber(Number(value), SCORE_DIGITS) : value;
  return element(
    'CNScore',
    { productType: 'SCORE', productId: '9BNI', description: it.narratives?.[0] },
    group('Result', text('Value', padded === undefined ? undefined : (it.sign ?? '') + padded)),
    list('Reasons', it.reasons, (reason) => element('Reason', { code: '9', description: reason })),
    list('RejectCodes', it.rejectCodes, (code) => element('RejectCode', { code })),
  );
}

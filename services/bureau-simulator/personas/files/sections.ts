/** Sections of the personas' files beside trades. Days that the wire formats lack are the first of the month. */
import type { CreditFile, Subject } from '../../credit-file.ts';
import type { Source } from '../inquiry.ts';

type Section<Name extends keyof CreditFile> = NonNullable<CreditFile[Name]>;

const SUPERIOR_COURT = { id: '481SC00010', name: 'SUPERIOR COURT TORONTO' };

export const BANKRUPTCIES: Section<'bankruptcies'> = [
  {
    dateFiled: '2021-03-01',
    court: SUPERIOR_COURT,
    caseNumber: '31-2712345 GRANT LEDGER',
    type: 'INDIVIDUAL',
    filer: 'SUBJECT',
    disposition: { type: 'DISCHARGED', date: '2022-01-01' },
    liabilityAmount: 48_210,
    assetAmount: 2_500,
    narratives: ['ABSOLUTE_DISCHARGE'],
  },
  {
    dateFiled: '2024-09-01',
    court: { id: '481SC00011', name: 'COUR SUPERIEURE MONTREAL' },
    caseNumber: '41-3300871',
    type: 'BUSINESS',
    filer: 'JOINT',
    disposition: { type: 'PROPOSAL_TO_CREDITORS', date: '2024-10-01' },
    liabilityAmount: 131_000,
    assetAmount: 18_750,
    narratives: ['PROPOSAL', 'NOTICE_OF_INTENTION'],
  },
];

export const COLLECTIONS: Section<'collections'> = [
  {
    type: 'UNPAID',
    assignedDate: '2025-05-01',
    agency: { id: '481YC00031', name: 'CEDAR RECOVERY' },
    agencyAccountNumber: '07080708615',
    creditor: { accountNumberAndOrName: 'TUNDRA MOBILE 6135550100' },
    industry: 'UT',
    reason: 'UNKNOWN',
    originalAmount: 812,
    balanceAmount: 640,
    dateOfLastPayment: '2025-08-01',
    narratives: ['SUBJECT_DISPUTES_THIS_ACCOUNT'],
  },
  {
    type: 'PAID',
    assignedDate: '2022-02-01',
    agency: { id: '481YC00007', name: 'FAMILY RESPONSIBILITY OFFICE' },
    agencyAccountNumber: '1800-22',
    creditor: { accountNumberAndOrName: 'CITY OF BRANDON' },
    reason: 'SETTLED',
    originalAmount: 1_800,
    balanceAmount: 0,
    dateOfLastPayment: '2022-07-01',
    datePaid: '2022-07-01',
    narratives: ['SETTLEMENT_MADE', 'CHILD_OR_FAMILY_SUPPORT_OBLIGATION'],
  },
];

export const LEGAL_ITEMS: Section<'legalItems'> = [
  {
    type: 'UNSETTLED_JUDGMENT',
    dateFiled: '2024-04-01',
    court: SUPERIOR_COURT,
    caseNumber: 'SC-24-00917',
    amount: 4_310,
    defendant: 'SUBJECT',
    plaintiff: 'HARBOUR CREDIT UNION',
    lawyerNameAddress: 'A BIRCH 12 KING ST TORONTO',
    narratives: ['DISPOSITION_UNKNOWN'],
  },
  {
    type: 'SATISFIED_JUDGMENT',
    dateFiled: '2020-10-01',
    court: SUPERIOR_COURT,
    caseNumber: 'SC-20-00402',
    status: 'SATISFIED',
    dateSatisfied: '2021-06-01',
    amount: 1_150,
    defendant: 'SUBJECT AND SPOUSE',
    plaintiff: 'TUNDRA MOBILE',
    narratives: ['SETTLEMENT_MADE'],
  },
];

export const SECURED_LOANS: Section<'securedLoans'> = [
  {
    dateFiled: '2023-07-01',
    court: { id: '481SC00020', name: 'PPSA REGISTRY WINNIPEG' },
    creditor: { nameAddressAndAmount: 'FIRST PRAIRIE FINANCE WINNIPEG 28950' },
    industry: 'FA',
    maturityDate: '2028-07-01',
    narratives: ['SECURITY_DISPOSITION_UNKNOWN'],
  },
];

export const LOCAL_INQUIRIES: Section<'localInquiries'> = [
  {
    date: '2026-01-19',
    customer: { id: '481BB00011', name: 'HARBOUR CREDIT UNION', phoneNumber: '9025550162' },
  },
  {
    date: '2025-10-30',
    customer: { id: '650FA00877', name: 'FIRST PRAIRIE FINANCE', phoneNumber: '2045550117' },
  },
];

/** The wire format has no industry. */
export const FOREIGN_INQUIRIES: Section<'foreignInquiries'> = [
  { date: '2025-12-03', memberNameAndNumber: 'BORDER BANK SEATTLE 906BB11873' },
  { date: '2025-09-12', memberNameAndNumber: 'PALM AUTO CREDIT MIAMI' },
];

export const SPECIAL_SERVICES: Section<'specialServices'> = [
  {
    type: 'LOST_OR_STOLEN_WALLET',
    dateReported: '2025-11-01',
    customer: { id: '481ZZ00001', name: 'CONSUMER RELATIONS', phoneNumber: '8005550199' },
  },
  {
    type: 'INQUIRY_ALERT',
    dateReported: '2025-11-01',
    customer: { id: '481ZZ00001', name: 'CONSUMER RELATIONS' },
  },
];

export const CONSUMER_STATEMENTS: Section<'consumerStatements'> = [
  {
    dateReported: '2025-11-01',
    dateToBePurged: '2031-11-01',
    statement: 'My wallet was stolen on the 3rd. Please call 613 555 0100 before any new credit.',
  },
];

/** A score with two reasons: texts at Equifax, numbers of factors at TransUnion. */
export function scoreOf(source: Source, value: number): Section<'scores'>[number] {
  const reasons =
    source === 'EQUIFAX'
      ? ['Proportion of balances to credit limits is too high', 'Too many recent inquiries']
      : ['40', '27'];
  return { number: value, value: String(value), narratives: ['Beacon 9.0'], reasons };
}

export const OTHER_NAMES: NonNullable<Subject['otherNames']> = [
  { type: 'ALSO_KNOWN_AS', firstName: 'Cara', lastName: 'Whole' },
  { type: 'FORMER_NAME', firstName: 'Carla', middleName: 'J', lastName: 'Partial' },
];

export const FORMER_ADDRESSES: NonNullable<Subject['addressHistory']> = [
  {
    dateReported: '2021-06-01',
    streetNo: '1669',
    streetName: 'OAKLAND AVE',
    city: 'BRANDON',
    province: 'MB',
    postalCode: 'R3A1S8',
  },
  {
    dateReported: '2016-02-01',
    streetNo: '12',
    streetName: 'RUE DES ERABLES',
    city: 'GATINEAU',
    province: 'QC',
    postalCode: 'J8X2V1',
  },
];

export const EMPLOYMENTS: NonNullable<Subject['employmentHistory']> = [
  {
    dateEmployed: '2022-05-01',
    employerName: 'NORTHERN LIGHTS BAKERY',
    occupation: 'BAKER',
    city: 'OTTAWA',
    province: 'ON',
    monthlyIncome: 4_550,
  },
  {
    dateEmployed: '2017-09-01',
    dateLeft: '2022-04-01',
    employerName: 'PRAIRIE MILLS',
    occupation: 'OPERATOR',
    city: 'BRANDON',
    province: 'MB',
    monthlyIncome: 3_900,
  },
];

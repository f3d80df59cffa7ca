// What is known of the answers of Equifax Canada: elements.
import { equifaxAnswer, HIT, withSections } from './equifax-answer.ts';
import {
  type CodeTuple,
  type ElementTuple,
  type FormatPart,
  type FormatRow,
  type Known,
  rowsOf,
  type Section,
} from './format-row.ts';

const part = (title: string, ...sections: Section[]): FormatPart => ({
  title,
  rows: sections.flatMap((section) => rowsOf(section, withSections)),
});

/** A row of the header, whose answer has these contents in one of its parts. */
const header = (
  wire: string,
  path: string,
  known: Known,
  parts: Parameters<typeof equifaxAnswer>[0],
  value: unknown,
): FormatRow => ({
  ...{ wire: `CNHeader/${wire}`, becomes: path, known, path, value },
  answers: [equifaxAnswer(parts)],
});

const named = (name: string, text: string) =>
  `<SubjectName><LastName>ONEIL SONS</LastName><FirstName>ZOE</FirstName>${name === '' ? '' : `<${name}>${text}</${name}>`}</SubjectName>`;
const identified = (contents: string) => `${named('', '')}<SubjectId>${contents}</SubjectId>`;
const BORN = '<DateOfBirth>1976-02-29</DateOfBirth>';
const inFile = (contents: string) => ({ creditFile: `${HIT}${contents}` });

const HEADER: FormatPart = {
  title: 'Header',
  rows: [
    header(
      'Request/CustomerNumber',
      'customerNumber',
      'seen',
      { request: '<CustomerNumber>999ZB12345</CustomerNumber>' },
      '999ZB12345',
    ),
    header(
      'Request/LanguageIndicator E',
      'language',
      'seen',
      { request: '<LanguageIndicator>E</LanguageIndicator>' },
      'EN',
    ),
    header(
      'Request/LanguageIndicator F',
      'language',
      'concluded',
      { request: '<LanguageIndicator>F</LanguageIndicator>' },
      'FR',
    ),
    header(
      'CreditFile/UniqueNumber',
      'id',
      'seen',
      inFile('<UniqueNumber>0148812207</UniqueNumber>'),
      '0148812207',
    ),
    header(
      'CreditFile/FileSinceDate',
      'fileSinceDate',
      'seen',
      inFile('<FileSinceDate>1998-04-17</FileSinceDate>'),
      '1998-04-17',
    ),
    header(
      'CreditFile/DateOfLastActivity',
      'lastActivityDate',
      'seen',
      inFile('<DateOfLastActivity>2026-10-02</DateOfLastActivity>'),
      '2026-10-02',
    ),
    header(
      'CreditFile/DateOfRequest',
      'requestedDate',
      'seen',
      inFile('<DateOfRequest>2026-11-22</DateOfRequest>'),
      '2026-11-22',
    ),
    header(
      'CreditFile/FileOwner/BureauCode',
      'bureau.id',
      'seen',
      inFile('<FileOwner><BureauCode>481</BureauCode></FileOwner>'),
      '481',
    ),
    header(
      'CreditFile/FileOwner/BureauContactInformation',
      'bureau.name',
      'seen',
      inFile('<FileOwner><BureauContactInformation>TORONTO</BureauContactInformation></FileOwner>'),
      'TORONTO',
    ),
    header(
      'CreditFile/HitStrengthIndicator `11` Regular hit',
      'hitStrength',
      'seen',
      inFile('<HitStrengthIndicator code="11" description="Regular hit"/>'),
      'Regular hit',
    ),
    header(
      'CreditFile/DataWarningMessages/DataWarningMessage `4`',
      'warnings.0',
      'seen',
      inFile(
        '<DataWarningMessages><DataWarningMessage code="4" description="CAUTION - INVALID BIRTHDATE/AGE"/></DataWarningMessages>',
      ),
      { code: '4', text: 'CAUTION - INVALID BIRTHDATE/AGE', source: 'DATA' },
    ),
    header('Subject/SubjectName/LastName', 'subject.lastName', 'seen', {}, 'ONEIL SONS'),
    header('Subject/SubjectName/FirstName', 'subject.firstName', 'seen', {}, 'ZOE'),
    header(
      'Subject/SubjectName/MiddleName',
      'subject.middleName',
      'seen',
      { subject: named('MiddleName', 'M') },
      'M',
    ),
    header(
      'Subject/SubjectName/Suffix',
      'subject.suffix',
      'read',
      { subject: named('Suffix', 'JR') },
      'JR',
    ),
    header(
      'Subject/SubjectId/SocialInsuranceNumber',
      'subject.sin',
      'read',
      { subject: identified(`<SocialInsuranceNumber>046454286</SocialInsuranceNumber>${BORN}`) },
      '046454286',
    ),
    header('Subject/SubjectId/DateOfBirth', 'subject.dateOfBirth', 'seen', {}, '1976-02-29'),
    header(
      'Subject/SubjectId/DateOfDeath',
      'subject.dateOfDeath',
      'read',
      { subject: identified(`${BORN}<DateOfDeath>2025-01-31</DateOfDeath>`) },
      '2025-01-31',
    ),
  ],
};

const HIT_TYPES: readonly [string, string, string, Known][] = [
  ['0', '', 'NO_CREDIT_FILE_REQUESTED', 'concluded'],
  ['1', 'HIT', 'HIT', 'seen'],
  ['2', '', 'NO_HIT', 'concluded'],
  ['3', '', 'MANUAL_FILE', 'concluded'],
  ['4', 'CONSUMER DECLARATION', 'CONSUMER_DECLARATION', 'seen'],
  ['5', '', 'REFERRED_FILE', 'concluded'],
  ['6', '', 'CONTACT_BUREAU_COLLECTION_DEPARTMENT', 'concluded'],
  ['7', '', 'CREDIT_LOCK', 'concluded'],
];
const HIT_CODES: FormatPart = {
  title: 'Hit codes',
  rows: HIT_TYPES.map(([code, description, value, known]) => ({
    ...{
      wire: `CNHeader/CreditFile/HitCode \`${code}\` ${description}`.trim(),
      becomes: `hitType ${value}`,
    },
    ...{ known, path: 'hitType', value },
    answers: [description, ''].map((words) =>
      equifaxAnswer({ creditFile: `<HitCode code="${code}" description="${words}"/>` }),
    ),
  })),
};

const PERSON = part(
  'Person',
  {
    entry: 'CNOtherNames/CNOtherName',
    field: 'subject.otherNames.0',
    elements: [
      ['LastName', 'ROY', 'lastName', 'ROY', 'seen'],
      ['FirstName', 'ZOE', 'firstName', 'ZOE', 'seen'],
      ['MiddleName', 'M', 'middleName', 'M', 'read'],
    ],
    codes: [['', 'AK', 'Also Known as', 'type', 'ALSO_KNOWN_AS', 'seen']],
  },
  {
    entry: 'CNAddresses/CNAddress',
    field: 'subject.addressHistory.0',
    elements: [
      ['DateReported', '2024-03', 'dateReported', '2024-03-01', 'seen'],
      ['CivicNumber', '12', 'streetNo', '12', 'seen'],
      ['StreetName', 'MAIN ST', 'streetName', 'MAIN ST', 'seen'],
      ['City', 'OTTAWA', 'city', 'OTTAWA', 'seen'],
      ['PostalCode', 'K1A0B1', 'postalCode', 'K1A0B1', 'seen'],
    ],
    codes: [
      ['Province', 'ON', 'ONTARIO', 'province', 'ON', 'seen'],
      ['Province', 'NL', 'NEW FOUNDLAND', 'province', 'NL', 'seen'],
    ],
  },
  {
    entry: 'CNEmployments/CNEmployment',
    field: 'subject.employmentHistory.0',
    elements: [
      ['Employer', 'BAKERY', 'employerName', 'BAKERY', 'seen'],
      ['Occupation', 'BAKER', 'occupation', 'BAKER', 'seen'],
    ],
  },
);

const COURT: readonly ElementTuple[] = [
  ['DateFiled', '2019-05', 'dateFiled', '2019-05-01', 'seen'],
  ['CourtId/CustomerNumber', '481SC00010', 'court.id', '481SC00010', 'seen'],
  ['CourtId/Name', 'SUPERIOR COURT', 'court.name', 'SUPERIOR COURT', 'seen'],
];
const narrative = (code: string, words: string, value: string, known: Known): CodeTuple => [
  ...(['Narratives/Narrative', code, words, 'narratives.0', value, known] as const),
];

const RECORDS = part(
  'Public records and collections',
  {
    entry: 'CNBankruptciesOrActs/CNBankruptcyOrAct',
    field: 'bankruptcies.0',
    elements: [
      ...COURT,
      ['CaseNumberAndTrustee', '31-2345678 DOE', 'caseNumber', '31-2345678 DOE', 'seen'],
      ['IntentOrDisposition/Date', '2020-02', 'disposition.date', '2020-02-01', 'seen'],
      ['LiabilityAmount', '000000045200', 'liabilityAmount', 45_200, 'seen'],
      ['AssetAmount', '000000000310', 'assetAmount', 310, 'seen'],
    ],
    codes: [
      ['Type', 'I', 'Individual', 'type', 'INDIVIDUAL', 'seen'],
      ['Type', 'B', '', 'type', 'BUSINESS', 'concluded'],
      ['Filer', 'S', 'Subject', 'filer', 'SUBJECT', 'seen'],
      ['Filer', 'J', '', 'filer', 'JOINT', 'concluded'],
      ['IntentOrDisposition', 'A', 'Discharged', 'disposition.type', 'DISCHARGED', 'seen'],
      ['IntentOrDisposition', 'B', 'Undischarged', 'disposition.type', 'UNDISCHARGED', 'seen'],
      narrative('CE', 'Disposition unknown', 'DISPOSITION_UNKNOWN', 'read'),
    ],
  },
  {
    entry: 'CNCollections/CNCollection',
    field: 'collections.0',
    elements: [
      ['AssignedDate', '2022-11', 'assignedDate', '2022-11-01', 'seen'],
      ['AgencyId/CustomerNumber', '481YC00031', 'agency.id', '481YC00031', 'seen'],
      ['AgencyId/Name', 'CEDAR RECOVERY', 'agency.name', 'CEDAR RECOVERY', 'seen'],
      ['LedgerNumber', '911', 'agencyAccountNumber', '911', 'seen'],
      [
        'CollectionCreditor/AccountNumberAndOrName',
        'BELL',
        'creditor.accountNumberAndOrName',
        'BELL',
        'seen',
      ],
      ['OriginalAmount', '000000000845', 'originalAmount', 845, 'seen'],
      ['BalanceAmount', '000000000410', 'balanceAmount', 410, 'seen'],
      ['DateOfLastPayment', '2023-01', 'dateOfLastPayment', '2023-01-01', 'seen'],
      ['DatePaid', '2023-02', 'datePaid', '2023-02-01', 'seen'],
    ],
    codes: [
      ['', 'PC', 'Paid Collection', 'type', 'PAID', 'seen'],
      ['', 'UC', 'Unpaid Collection', 'type', 'UNPAID', 'seen'],
      ['Reason', 'U', 'Unknown', 'reason', 'UNKNOWN', 'seen'],
      ['Reason', 'C', '', 'reason', 'CHECKED', 'concluded'],
      ['Reason', 'O', '', 'reason', 'OTHER', 'concluded'],
      ['Reason', 'P', '', 'reason', 'PAID', 'concluded'],
      ['Reason', 'S', '', 'reason', 'SETTLED', 'concluded'],
      narrative('BB', 'Subject disputes this account', 'SUBJECT_DISPUTES_THIS_ACCOUNT', 'seen'),
    ],
  },
  {
    entry: 'CNLegalItems/CNLegalItem',
    field: 'legalItems.0',
    elements: [
      ...COURT,
      ['CaseNumber', '25066', 'caseNumber', '25066', 'seen'],
      ['DateSatisfied', '2019-01', 'dateSatisfied', '2019-01-01', 'seen'],
      ['Amount', '000000002500', 'amount', 2500, 'seen'],
      ['Defendant', 'SUBJECT', 'defendant', 'SUBJECT', 'seen'],
      ['Plaintiff', 'ACME', 'plaintiff', 'ACME', 'seen'],
      ['LawyerNameAddress', 'J ROE', 'lawyerNameAddress', 'J ROE', 'seen'],
    ],
    codes: [
      ['', ' AJ', 'Judgment', 'type', 'UNSETTLED_JUDGMENT', 'seen'],
      ['', ' SJ', 'Satisfied Judgment', 'type', 'SATISFIED_JUDGMENT', 'seen'],
      ['Status', 'S', 'Satisfied', 'status', 'SATISFIED', 'seen'],
      ['Status', 'D', '', 'status', 'DISMISSED', 'concluded'],
      narrative('CE', 'Disposition unknown', 'DISPOSITION_UNKNOWN', 'seen'),
    ],
  },
  {
    entry: 'CNSecuredLoans/CNSecuredLoan',
    field: 'securedLoans.0',
    elements: [
      ...COURT,
      [
        'SecuredLoanCreditorId/NameAddressAndAmount',
        'ACME 18000',
        'creditor.nameAddressAndAmount',
        'ACME 18000',
        'seen',
      ],
      ['MaturityDate', '2028-06', 'maturityDate', '2028-06-01', 'seen'],
    ],
    codes: [narrative('GB', 'Security Deposit Unknown', 'SECURITY_DISPOSITION_UNKNOWN', 'seen')],
  },
);

const INQUIRIES = part(
  'Inquiries, services, statements and scores',
  {
    entry: 'CNLocalInquiries/CNLocalInquiry',
    field: 'localInquiries.0',
    elements: [
      ['@date', '2026-06-01', 'date', '2026-06-01', 'seen'],
      ['CustomerId/CustomerNumber', '481BB00011', 'customer.id', '481BB00011', 'seen'],
      ['CustomerId/Name', 'CREDIT UNION', 'customer.name', 'CREDIT UNION', 'seen'],
    ],
  },
  {
    entry: 'CNForeignInquiries/CNForeignInquiry',
    field: 'foreignInquiries.0',
    elements: [
      ['@date', '2026-06-01', 'date', '2026-06-01', 'seen'],
      ['CityNameOrInquiryNumber', '650FA00877', 'memberNameAndNumber', '650FA00877', 'seen'],
      ['InquiryProvince', 'LAKEHEAD BANK', 'memberNameAndNumber', 'LAKEHEAD BANK', 'seen'],
    ],
  },
  {
    entry: 'CNSpecialServices/CNSpecialService',
    field: 'specialServices.0',
    elements: [
      ['DateReported', '2025-02', 'dateReported', '2025-02-01', 'concluded'],
      ['CustomerNumber', '481ZZ00001', 'customer.id', '481ZZ00001', 'concluded'],
      ['Name', 'RELATIONS', 'customer.name', 'RELATIONS', 'concluded'],
      [
        'Telephone/ParsedTelephone/Number',
        '555-0199',
        'customer.phoneNumber',
        '555-0199',
        'concluded',
      ],
    ],
  },
  {
    entry: 'CNConsumerStatements/CNConsumerStatement',
    field: 'consumerStatements.0',
    elements: [
      ['DateReported', '2025-03', 'dateReported', '2025-03-01', 'seen'],
      ['DateToBePurged', '2031-03', 'dateToBePurged', '2031-03-01', 'seen'],
      ['Statement', 'CALL ME', 'statement', 'CALL ME', 'seen'],
    ],
  },
  {
    entry: 'CNScores/CNScore',
    field: 'scores.0',
    elements: [
      ['@description', 'Beacon', 'narratives.0', 'Beacon', 'seen'],
      ['Result/Value', '00686', 'number', 686, 'seen'],
    ],
  },
);

export const EQUIFAX_ELEMENTS: readonly FormatPart[] = [
  HEADER,
  HIT_CODES,
  PERSON,
  RECORDS,
  INQUIRIES,
];

// What is known of the answers of Equifax Canada: the rules of all elements.
import { withSections } from './equifax-answer.ts';
import { type FormatPart, type FormatRow, type Known, nest } from './format-row.ts';

const rule = (
  wire: string,
  becomes: string,
  known: Known,
  sections: string,
  path: string,
  value: unknown,
): FormatRow => ({
  ...{ wire, becomes, known, path, value },
  answers: [withSections(sections)],
});
const trade = (contents: string) => nest('CNTrades/CNTrade', contents);
const telephone = (contents: string) =>
  trade(nest('CreditorId/Telephone/ParsedTelephone', `<AreaCode>514</AreaCode>${contents}`));
const PHONE = 'trades.0.creditor.phoneNumber';
const message = (code: string, words: string) =>
  nest(
    'CNFraudWarnings/CNFraudWarning/Messages/Message',
    '',
    ` code="${code}" description="${words}" priority="1"`,
  );
const address = (code: string, city: string) =>
  `<CNAddress code="${code}"><City>${city}</City></CNAddress>`;
const employment = (code: string, name: string) =>
  `<CNEmployment code="${code}"><Employer>${name}</Employer></CNEmployment>`;
const rejected = (code: string) =>
  nest('CNScores/CNScore/RejectCodes/RejectCode', '', ` code="${code}" description="WORDS"`);
const COUNTED = 'counted.0';

export const EQUIFAX_RULES: FormatPart = {
  title: 'Rules',
  rows: [
    rule(
      'A number with its hyphen',
      'a telephone number',
      'seen',
      telephone('<Number>257-4000</Number>'),
      PHONE,
      '514-257-4000',
    ),
    rule(
      'A number without a hyphen',
      'a telephone number with one',
      'seen',
      telephone('<Number>2574000</Number>'),
      PHONE,
      '514-257-4000',
    ),
    rule(
      'Extension',
      'the end of a telephone number',
      'seen',
      telephone('<Number>257-4000</Number><Extension>7486</Extension>'),
      PHONE,
      '514-257-4000 ext. 7486',
    ),
    rule(
      'CNFraudWarning/Messages/Message `1`',
      'a warning',
      'seen',
      message('1', 'POSSIBLE TRUE NAME FRAUD'),
      'warnings',
      [{ code: '1', text: 'POSSIBLE TRUE NAME FRAUD', source: 'FRAUD' }],
    ),
    rule(
      'CNFraudWarning/Messages/Message `0` NO FRAUD INDICATION',
      'no warning',
      'seen',
      message('0', 'NO FRAUD INDICATION WAS DETECTED'),
      'warnings',
      undefined,
    ),
    rule(
      'CNAddress `CA`, `FA`, `F2` in any order',
      'the current address first',
      'seen',
      `<CNAddresses>${address('F2', 'HULL')}${address('FA', 'LAVAL')}${address('CA', 'OTTAWA')}</CNAddresses>`,
      'subject.addressHistory',
      [{ city: 'OTTAWA' }, { city: 'LAVAL' }, { city: 'HULL' }],
    ),
    rule(
      'CNEmployment `ES`, `EF`, `E2` in any order',
      'the current employment first',
      'seen',
      `<CNEmployments>${employment('E2', 'MILL')}${employment('EF', 'FARM')}${employment('ES', 'BAKERY')}</CNEmployments>`,
      'subject.employmentHistory',
      [{ employerName: 'BAKERY' }, { employerName: 'FARM' }, { employerName: 'MILL' }],
    ),
    rule(
      'CNOtherName/Suffix `XX`, with a code alone',
      'its words',
      'seen',
      nest('CNOtherNames/CNOtherName/Suffix', '', ' code="XX" description="Combined files"'),
      'subject.otherNames.0.suffix',
      'Combined files',
    ),
    rule(
      'CNForeignInquiry with name and number',
      'both, the name first',
      'seen',
      nest(
        'CNForeignInquiries/CNForeignInquiry',
        '<CityNameOrInquiryNumber>650FA00877</CityNameOrInquiryNumber><InquiryProvince>LAKEHEAD BANK</InquiryProvince>',
      ),
      'foreignInquiries.0.memberNameAndNumber',
      'LAKEHEAD BANK 650FA00877',
    ),
    rule(
      'CollectionCreditor/Industry `BB` Banks',
      'its words',
      'seen',
      nest(
        'CNCollections/CNCollection/CollectionCreditor/Industry',
        '',
        ' code="BB" description="Banks"',
      ),
      'collections.0.industry',
      'Banks',
    ),
    rule(
      'SecuredLoanCreditorId/Industry `FA` Auto financing',
      'its words',
      'seen',
      nest(
        'CNSecuredLoans/CNSecuredLoan/SecuredLoanCreditorId/Industry',
        '',
        ' code="FA" description="Auto financing"',
      ),
      'securedLoans.0.industry',
      'Auto financing',
    ),
    rule(
      'CNSpecialService with a description of the interface',
      'a type',
      'concluded',
      nest(
        'CNSpecialServices/CNSpecialService',
        '',
        ' code="9" description="Lost or stolen wallet"',
      ),
      'specialServices.0.type',
      'LOST_OR_STOLEN_WALLET',
    ),
    rule(
      'CNScore/Reasons/Reason with a description',
      'its words',
      'seen',
      nest(
        'CNScores/CNScore/Reasons/Reason',
        '',
        ' code="00039" description="Serious delinquency."',
      ),
      'scores.0.reasons',
      ['Serious delinquency.'],
    ),
    rule(
      'CNScore/Reasons/Reason without a description',
      '"factor" and its number',
      'concluded',
      nest('CNScores/CNScore/Reasons/Reason', '', ' code="00014"'),
      'scores.0.reasons',
      ['factor 14'],
    ),
    rule(
      'RejectCodes/RejectCode `I`',
      'a reject code',
      'seen',
      rejected('I'),
      'scores.0.rejectCodes',
      ['I'],
    ),
    rule(
      'RejectCodes/RejectCode `R` with a description',
      'a reject reason',
      'seen',
      rejected('R'),
      'scores.0.rejectReasons',
      [{ code: 'R', text: 'WORDS' }],
    ),
    rule(
      'CNLegalItem ` FO` Foreclosure',
      'no type, and counted',
      'seen',
      nest(
        'CNLegalItems/CNLegalItem',
        '<CaseNumber>1</CaseNumber>',
        ' code=" FO" description="Foreclosure"',
      ),
      COUNTED,
      'CNLegalItem FO',
    ),
    rule(
      'CNGarnishments',
      'also reported, by the number of entries',
      'seen',
      nest('CNGarnishments/CNGarnishment', '<CaseNumber>1</CaseNumber>'),
      'alsoReported',
      [{ section: 'CNGarnishments', count: 1 }],
    ),
    rule(
      'CNOtherIncomes',
      'also reported',
      'seen',
      nest('CNOtherIncomes/CNOtherIncome', '<IncomeSource>X</IncomeSource>'),
      'alsoReported',
      [{ section: 'CNOtherIncomes', count: 1 }],
    ),
    rule(
      'CNTelephoneNumbers',
      'also reported',
      'seen',
      '<CNTelephoneNumbers><CNTelephoneNumber/><CNTelephoneNumber/></CNTelephoneNumbers>',
      'alsoReported',
      [{ section: 'CNTelephoneNumbers', count: 2 }],
    ),
    rule(
      'Any other section',
      'also reported, and counted',
      'read',
      nest('CNBankingClosures/CNBankingClosure', '<Name>X</Name>'),
      COUNTED,
      'CNConsumerCreditReport/CNBankingClosures (not read)',
    ),
    rule(
      'A date without a day',
      'the first of the month, of which the day is not known',
      'seen',
      trade('<DateOpened>2017-09</DateOpened>'),
      'trades',
      [{ dateOpened: '2017-09-01', datesWithoutDay: ['dateOpened'] }],
    ),
    rule(
      'A code behind a blank',
      'the same code',
      'seen',
      trade('<PaymentRate code=" 1"/>'),
      'trades.0.paymentRate',
      'PAID_AS_AGREED_AND_UP_TO_DATE',
    ),
    rule(
      'An empty code',
      'nothing',
      'seen',
      trade('<PaymentRate code="" description=""/>'),
      'trades',
      undefined,
    ),
    rule(
      'An unknown code with a description of the interface',
      'the value of the description',
      'read',
      trade(
        '<Narratives><Narrative code="QQ" description="Closed at consumer\'s request"/></Narratives>',
      ),
      'trades.0.narratives.0',
      'CLOSED_AT_CONSUMERS_REQUEST',
    ),
    rule(
      'A description with "3rd"',
      'the value with THIRD',
      'read',
      trade(
        '<Narratives><Narrative code="QQ" description="Loan was paid out by a 3rd party"/></Narratives>',
      ),
      'trades.0.narratives.0',
      'LOAN_WAS_PAID_OUT_BY_A_THIRD_PARTY',
    ),
    rule(
      'A code whose description names another value',
      'the value of the description, and counted',
      'read',
      nest('CNLegalItems/CNLegalItem/Status', '', ' code="D" description="Satisfied"'),
      COUNTED,
      'CNLegalItem/Status D (described otherwise)',
    ),
    rule(
      'A code and a description that nobody knows',
      'nothing, and counted',
      'read',
      trade('<PaymentRate code="QQ" description="Words"/>'),
      COUNTED,
      'CNTrade/PaymentRate QQ',
    ),
    rule(
      'PaymentRate `6`, which there is not',
      'nothing, and counted',
      'read',
      trade('<PaymentRate code="6"/>'),
      COUNTED,
      'CNTrade/PaymentRate 6',
    ),
  ],
};

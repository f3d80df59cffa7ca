import { expect, test } from 'vitest';
import { writeEquifaxAnswer, writeEquifaxError } from './answer.ts';

test('a header has days, and absent sections leave no element', () => {
  const xml = writeEquifaxAnswer(
    {
      id: '0000123456',
      customerNumber: '999ZB12345',
      language: 'FR',
      fileSinceDate: '2009-05-11',
      requestedDate: '2026-03-02',
      bureau: { id: '481', name: 'Montréal' },
      hitType: 'HIT',
      subject: { firstName: 'Zoé', lastName: "O'Brien & Fils", sin: '046454286' },
    },
    { reference: 'r1' },
  );
  expect(xml).toBe(
    `<?xml version="1.0" encoding="UTF-8"?>
<EfxTransmit xmlns="http://www.equifax.ca/XMLSchemas/EfxToCust"><EfxReport><CNConsumerCreditReports><CNConsumerCreditReport><CNHeader><Request><CustomerReferenceNumber>r1</CustomerReferenceNumber><CustomerNumber>999ZB12345</CustomerNumber><LanguageIndicator>F</LanguageIndicator></Request><CreditFile><UniqueNumber>0000123456</UniqueNumber><FileSinceDate>2009-05-11</FileSinceDate><DateOfRequest>2026-03-02</DateOfRequest><FileOwner><BureauCode>481</BureauCode><BureauContactInformation>Montréal</BureauContactInformation></FileOwner><HitCode code="1" description="Hit"/></CreditFile><Subject><SubjectName><LastName>O'Brien &amp; Fils</LastName><FirstName>Zoé</FirstName></SubjectName><SubjectId><SocialInsuranceNumber>046454286</SocialInsuranceNumber></SubjectId></Subject></CNHeader></CNConsumerCreditReport></CNConsumerCreditReports></EfxReport></EfxTransmit>
`,
  );
});

test('a trade has padded amounts and months, and its exact days and line of credit in the extended trades', () => {
  const xml = writeEquifaxAnswer({
    trades: [
      {
        dateReported: '2026-02-14',
        creditor: { id: '400BB123', name: 'PRAIRIE BANK', phoneNumber: '(416) 555-0143 x12' },
        balanceAmount: 686.4,
        monthsReviewed: 7,
        portfolioType: 'LINE_OF_CREDIT',
        paymentRate: 'NOT_MORE_THAN_ONE_PAYMENT_PAST_DUE',
        count30DaysPastDue: 1,
        previousHighPaymentRates: [{ date: '2025-06-30', rate: 'THREE_OR_MORE_PAYMENTS_PAST_DUE' }],
        narratives: ['AMOUNT_IN_HC_COLUMN_IS_CREDIT_LIMIT', 'CLOSED_AT_CONSUMERS_REQUEST'],
      },
    ],
  });
  expect(xml).toContain(
    '<CNTrades><CNTrade><DateReported>2026-02</DateReported>' +
      '<CreditorId><CustomerNumber>400BB123</CustomerNumber><Name>PRAIRIE BANK</Name>' +
      '<Telephone><ParsedTelephone><AreaCode>416</AreaCode><Number>5550143</Number>' +
      '<Extension>12</Extension></ParsedTelephone></Telephone></CreditorId>' +
      '<BalanceAmount>00686</BalanceAmount><MonthsReviewed>07</MonthsReviewed>' +
      '<PortfolioType code="R" description="Revolving or option"/>' +
      '<PaymentRate code=" 2" description="Not more than one payment past due"/>' +
      '<HistoryDerogatoryCounters><Count30DayPastDue>01</Count30DayPastDue></HistoryDerogatoryCounters>' +
      '<PreviousHighPaymentRates><PreviousHighPaymentRate code=" 4" description="Three or more payments past due">' +
      '<Date>2025-06</Date></PreviousHighPaymentRate></PreviousHighPaymentRates>' +
      '<Narratives><Narrative code="AZ" description="Amount in h/c column is credit limit"/>' +
      '<Narrative code="9CACR" description="Closed at consumer\'s request"/></Narratives></CNTrade></CNTrades>' +
      '<CNExtendedTrades><CNExtendedTrade><DateReported>2026-02-14</DateReported>' +
      '<PortfolioType code="C" description="Line of credit"/></CNExtendedTrade></CNExtendedTrades>',
  );
});

test('several files give several reports, and scores are padded', () => {
  const xml = writeEquifaxAnswer(
    { hitType: 'NO_HIT' },
    { otherFiles: [{ scores: [{ number: 686, reasons: ['Too many inquiries'] }] }] },
  );
  expect(xml.match(/<EfxReport>/g)).toHaveLength(2);
  expect(xml).toContain('<Result><Value>00686</Value></Result>');
});

test('characters that XML cannot have are left out, and the others are escaped', () => {
  const statement = 'a\u0000b\uD800<c>\t"d"\r\n]]>';
  const xml = writeEquifaxAnswer({ consumerStatements: [{ statement }] });
  expect(xml).toContain('<Statement>ab&lt;c&gt;&#9;&quot;d&quot;&#13;&#10;]]&gt;</Statement>');
});

test('an error has its code and description', () => {
  expect(writeEquifaxError('E0819', 'Bad member number')).toContain(
    '<CNErrorReport><Errors><Error><SourceCode>STS</SourceCode><ErrorCode>E0819</ErrorCode>' +
      '<Description>Bad member number</Description>',
  );
});

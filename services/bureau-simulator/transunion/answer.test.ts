import { expect, test } from 'vitest';
import type { CreditFile } from '../credit-file.ts';
import { writeTransUnionAnswer, writeTransUnionError } from './answer.ts';

const file: CreditFile = {
  customerNumber: '975ZZ42052',
  requestedDate: '2026-03-02',
  hitType: 'HIT',
  subject: {
    firstName: 'Zoé',
    lastName: 'Roy',
    addressHistory: [{ streetNo: '276', streetName: 'OAK ST', city: 'OTTAWA', province: 'ON' }],
  },
  trades: [
    {
      dateReported: '2026-01-07',
      association: 'INDIVIDUAL',
      balanceAmount: 394,
      portfolioType: 'REVOLVING_OR_OPTION',
      paymentRate: 'PAID_AS_AGREED_AND_UP_TO_DATE',
      monthsReviewed: 2,
      narratives: ['AMOUNT_IN_HC_COLUMN_IS_CREDIT_LIMIT', 'MONTHLY_PAYMENTS'],
    },
  ],
  scores: [{ value: '700', reasons: ['40'] }],
};

test('a file is in REL4Report, with plain amounts and dates', () => {
  expect(writeTransUnionAnswer(file, { envelope: 'root', reference: 'r1' })).toBe(
    `<?xml version="1.0" encoding="UTF-8"?>
<REL4Report><UserReference>r1</UserReference><MemberCode>975ZZ42052</MemberCode><Date>20260302</Date><Time>093000</Time><Product>07000</Product><TU_FFR_Report><Hit>Y</Hit><Names><Name NameType="Primary "><LastName>Roy</LastName><FirstName>Zoé</FirstName></Name></Names><PersonalInformation><SIN>000000000</SIN></PersonalInformation><Addresses><Address AddrType="Personal "><Street>276 OAK ST</Street><City>OTTAWA</City><Prov>ON</Prov></Address></Addresses><Trades><Trade><Type>R</Type><Joint>I</Joint><DateRevised>20260107</DateRevised><MOP>01</MOP><Balance>394</Balance><Frequency>M</Frequency><Narrative1>HC</Narrative1><PaymentPattern>XX</PaymentPattern><MonthsReviewed>2</MonthsReviewed></Trade></Trades><ScoreProducts><ScoreProduct><Product>00002</Product><Score>700</Score><Factor1>40</Factor1><Factor2>0</Factor2><Factor3>0</Factor3><Factor4>0</Factor4></ScoreProduct></ScoreProducts></TU_FFR_Report></REL4Report>
`,
  );
});

test('the other form of an answer is a SOAP 1.1 envelope', () => {
  expect(writeTransUnionAnswer(file)).toContain(
    '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>' +
      '<ProcessRequestXMLResponse xmlns="http://www.transunion.ca/WS/TU4R"><ProcessRequestXMLResult>',
  );
});

test('an error has its code and description, and no report', () => {
  const xml = writeTransUnionError('A01', 'Invalid password');
  expect(xml).toContain(
    '<Errors><Error><Code>A01</Code><Description>Invalid password</Description></Error></Errors></ProcessRequestXMLResult>',
  );
  expect(xml).not.toContain('TU_FFR_Report');
});

/** Requests to the simulated bureaus, for tests. */
import { DEMO_ACCOUNTS, type EquifaxAccount, type TransUnionAccount } from './accounts.ts';
import { REQUEST_TEMPLATE } from './transunion/request-template.ts';
import { group, text } from './xml-text.ts';

const [EQUIFAX] = DEMO_ACCOUNTS.equifax as [EquifaxAccount, ...EquifaxAccount[]];
const [TRANSUNION] = DEMO_ACCOUNTS.transUnion as [TransUnionAccount, ...TransUnionAccount[]];

export interface TestSubject {
  lastName: string;
  firstName?: string;
  city?: string;
  province?: string;
}

/** The XML of a request to Equifax. */
export function equifaxXml(
  { lastName, firstName = 'Pat', city = 'Ottawa', province = 'ON' }: TestSubject,
  account: Partial<EquifaxAccount> = {},
): string {
  const { customerCode, customerNumber, securityCode } = { ...EQUIFAX, ...account };
  const subject = group(
    'Subject',
    group('SubjectName', text('LastName', lastName), text('FirstName', firstName)),
    text('DateOfBirth', '1988-07-14'),
  );
  const address = [text('CivicNumber', '12'), text('City', city), `<Province code="${province}"/>`];
  const request = [
    group('Subjects', subject, group('Addresses', group('Address', ...address))),
    text('CustomerReferenceNumber', 'r1'),
  ];
  return `<CNCustTransmitToEfx xmlns="http://www.equifax.ca/XMLSchemas/CustToEfx">${[
    group(
      'CNCustomerInfo',
      text('CustomerCode', customerCode),
      group(
        'CustomerInfo',
        text('CustomerNumber', customerNumber),
        text('SecurityCode', securityCode),
      ),
    ),
    group('CNRequests', group('CNConsumerRequests', group('CNConsumerRequest', ...request))),
  ].join('')}</CNCustTransmitToEfx>`;
}

/** The body of a request to Equifax by the older form. */
export function equifaxForm(subject: TestSubject, account?: Partial<EquifaxAccount>) {
  return new URLSearchParams({
    InputSegments: equifaxXml(subject, account),
    cmdSubmit: 'Submit',
  });
}

/** The body of a request to TransUnion. */
export function transUnionXml(
  { lastName, firstName = 'Pat' }: TestSubject,
  account: Partial<TransUnionAccount> = {},
): string {
  const values: Readonly<Record<string, string>> = {
    ...TRANSUNION,
    ...account,
    reference: 'r1',
    lastName,
    firstName,
    dateOfBirth: '1988-07-14',
  };
  return REQUEST_TEMPLATE.replace(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? '');
}

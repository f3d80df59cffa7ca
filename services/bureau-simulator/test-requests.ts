/** Requests to the simulated bureaus, for tests. */
import { DEMO_ACCOUNTS, type EquifaxAccount, type TransUnionAccount } from './accounts.ts';
import { escapeXml } from './escape-xml.ts';
import { REQUEST_TEMPLATE } from './transunion/request-template.ts';

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
  return `<CNCustTransmitToEfx xmlns="http://www.equifax.ca/XMLSchemas/CustToEfx">
  <CNCustomerInfo>
    <CustomerCode>${customerCode}</CustomerCode>
    <CustomerInfo>
      <CustomerNumber>${customerNumber}</CustomerNumber>
      <SecurityCode>${securityCode}</SecurityCode>
    </CustomerInfo>
  </CNCustomerInfo>
  <CNRequests>
    <CNConsumerRequests>
      <CNConsumerRequest>
        <Subjects>
          <Subject subjectType="SUBJ">
            <SubjectName>
              <LastName>${escapeXml(lastName)}</LastName>
              <FirstName>${escapeXml(firstName)}</FirstName>
            </SubjectName>
            <DateOfBirth>1988-07-14</DateOfBirth>
          </Subject>
          <Addresses>
            <Address addressType="CURR">
              <CivicNumber>12</CivicNumber>
              <StreetName>Main St</StreetName>
              <City>${city}</City>
              <Province code="${province}"/>
              <PostalCode>K1A0B1</PostalCode>
            </Address>
          </Addresses>
        </Subjects>
        <CustomerReferenceNumber>r1</CustomerReferenceNumber>
        <ECOAInquiryType>I</ECOAInquiryType>
        <JointAccessIndicator>N</JointAccessIndicator>
      </CNConsumerRequest>
    </CNConsumerRequests>
  </CNRequests>
</CNCustTransmitToEfx>`;
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
  return REQUEST_TEMPLATE.replace(/\{\{(\w+)\}\}/g, (_, name: string) =>
    escapeXml(values[name] ?? ''),
  );
}

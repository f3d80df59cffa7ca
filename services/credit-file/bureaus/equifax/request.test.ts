import { create } from '@bufbuild/protobuf';
import {
  EquifaxCredentialsSchema,
  EquifaxTransport,
} from '@creditlane/proto/creditfile/v1/bureau_credentials_service';
import { describe, expect, test } from 'vitest';
import { findElement, findElements } from '../answer/find-element.ts';
import { parseXml } from '../answer/xml-document.ts';
import { EQUIFAX_OPTIONS, FORMATS, INQUIRY } from '../test-formats.ts';
import { equifaxFormat } from './equifax-format.ts';
import { makeEquifaxRequest } from './request.ts';

const BASE_URL = 'https://sts.example/v1';
const credentialsOf = (transport: EquifaxTransport) =>
  create(EquifaxCredentialsSchema, {
    customerCode: 'A123',
    customerNumber: '999ZB12345',
    securityCode: 'a<b&"c',
    transport,
    baseUrl: BASE_URL,
    clientId: 'cl:ient',
    clientSecret: 'se cret',
  });
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const { makeRequest, makeTokenRequest } = FORMATS.equifax;

/** The XML of a request by the older form. */
function xmlOf(body: string): string {
  return new URLSearchParams(body).get('InputSegments') ?? '';
}

test('the older form has the XML and the name of the button', () => {
  const request = makeRequest(INQUIRY, credentialsOf(EquifaxTransport.FORM));
  expect(request).toMatchObject({ url: BASE_URL, headers: FORM });
  expect([...new URLSearchParams(request.body).keys()]).toEqual(['InputSegments', 'cmdSubmit']);
  expect(new URLSearchParams(request.body).get('cmdSubmit')).toBe('Submit');
});

test('the XML has the member, the person and the addresses, and asks for an answer in English', () => {
  const { body } = makeRequest(INQUIRY, credentialsOf(EquifaxTransport.FORM));
  expect(xmlOf(body).replaceAll('><', '>\n<')).toMatchInlineSnapshot(`
    "<?xml version="1.0" encoding="UTF-8"?>
    <CNCustTransmitToEfx xmlns="http://www.equifax.ca/XMLSchemas/CustToEfx">
    <CNCustomerInfo>
    <CustomerCode>A123</CustomerCode>
    <CustomerInfo>
    <CustomerNumber>999ZB12345</CustomerNumber>
    <SecurityCode>a&lt;b&amp;&quot;c</SecurityCode>
    </CustomerInfo>
    </CNCustomerInfo>
    <CNRequests>
    <CNConsumerRequests>
    <CNConsumerRequest>
    <Subjects>
    <Subject subjectType="SUBJ">
    <SubjectName>
    <LastName>O&apos;Neil &amp; &lt;Sons&gt;</LastName>
    <FirstName>Zoë</FirstName>
    </SubjectName>
    <SocialInsuranceNumber>046454286</SocialInsuranceNumber>
    <DateOfBirth>1976-02-29</DateOfBirth>
    <Occupation>Baker</Occupation>
    </Subject>
    <Addresses>
    <Address addressType="CURR">
    <CivicNumber>12</CivicNumber>
    <StreetName>Main St</StreetName>
    <City>Ottawa</City>
    <Province code="ON"/>
    <PostalCode>K1A0B1</PostalCode>
    </Address>
    <Address addressType="FORM">
    <CivicNumber>7</CivicNumber>
    <StreetName>Rue Côté</StreetName>
    <City>Laval</City>
    <Province code="QC"/>
    <PostalCode>H7A1A1</PostalCode>
    </Address>
    </Addresses>
    </Subjects>
    <CustomerReferenceNumber>b1</CustomerReferenceNumber>
    <ECOAInquiryType>I</ECOAInquiryType>
    <JointAccessIndicator>N</JointAccessIndicator>
    </CNConsumerRequest>
    </CNConsumerRequests>
    </CNRequests>
    <CNOutputParameters>
    <Language>EN</Language>
    </CNOutputParameters>
    </CNCustTransmitToEfx>"
  `);
});

test('an unknown SIN and an unknown occupation have no element', () => {
  const { sin: _sin, occupation: _occupation, ...subject } = INQUIRY.subject;
  const { body } = makeRequest({ ...INQUIRY, subject }, credentialsOf(EquifaxTransport.FORM));
  expect(xmlOf(body)).not.toMatch(/SocialInsuranceNumber|Occupation/);
});

test('characters that XML cannot have are left out, and all others arrive as they are', () => {
  const subject = { ...INQUIRY.subject, firstName: `A\u0000\u0007\uD800B]]>'"` };
  const { body } = makeRequest({ ...INQUIRY, subject }, credentialsOf(EquifaxTransport.FORM));
  const root = parseXml(xmlOf(body));
  const request = findElement(root, 'CNRequests/CNConsumerRequests/CNConsumerRequest');
  const [person] = findElements(request, 'Subjects/Subject');
  expect(findElement(person, 'SubjectName/FirstName')?.text).toBe(`AB]]>'"`);
  expect(findElement(person, 'SubjectName/LastName')?.text).toBe(INQUIRY.subject.lastName);
});

describe('the form with a token', () => {
  const credentials = credentialsOf(EquifaxTransport.OAUTH);

  test('carries the token and the XML', () => {
    const request = makeRequest(INQUIRY, credentials, 't1');
    expect(request.headers).toEqual({ ...FORM, authorization: 'Bearer t1' });
    expect([...new URLSearchParams(request.body).keys()]).toEqual(['InputSegments']);
  });

  test('is not made without a token', () => {
    expect(() => makeRequest(INQUIRY, credentials)).toThrow('needs an access token');
  });

  test('gets its token below the base URL with the client’s id and secret', () => {
    expect(makeTokenRequest(credentials)).toEqual({
      url: `${BASE_URL}/oauth/token`,
      headers: {
        ...FORM,
        accept: 'application/json',
        authorization: `Basic ${Buffer.from('cl%3Aient:se%20cret').toString('base64')}`,
      },
      body: 'grant_type=client_credentials',
    });
  });

  test('gets its token elsewhere and with a scope when the settings say so', () => {
    const options = { tokenUrl: 'https://login.example/token', tokenScope: 'sts pull' };
    const format = equifaxFormat({ ...EQUIFAX_OPTIONS, ...options });
    expect(format.makeTokenRequest(credentials)).toMatchObject({
      url: 'https://login.example/token',
      body: 'grant_type=client_credentials&scope=sts+pull',
    });
  });
});

test.each([EquifaxTransport.SOAP, EquifaxTransport.FORM])(
  'transport %d needs no token',
  (transport) => {
    expect(makeTokenRequest(credentialsOf(transport))).toBeUndefined();
  },
);

test('the SOAP 1.2 message has the XML as the text of InputSegment', () => {
  const request = makeRequest(INQUIRY, credentialsOf(EquifaxTransport.SOAP));
  const form = makeRequest(INQUIRY, credentialsOf(EquifaxTransport.FORM));
  expect(request.headers).toEqual({
    'content-type':
      'application/soap+xml; charset=utf-8; action="http://www.equifax.ca/STSRequest/Submit"',
  });
  const segment = findElement(parseXml(request.body), 'Body/Submit/InputSegment');
  expect(segment?.text).toBe(xmlOf(form.body));
});

test('a fixed header precedes the XML', () => {
  const options = { ...EQUIFAX_OPTIONS, inputHeader: 'HEADER 1 ' };
  const { body } = makeEquifaxRequest(INQUIRY, credentialsOf(EquifaxTransport.FORM), options);
  expect(xmlOf(body)).toMatch(/^HEADER 1 <\?xml /);
});

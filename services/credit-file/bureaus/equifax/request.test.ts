import { create } from '@bufbuild/protobuf';
import {
  EquifaxCredentialsSchema,
  EquifaxTransport,
} from '@creditlane/proto/creditfile/v1/bureau_credentials_service';
import { describe, expect, test } from 'vitest';
import { findElement, findElements } from '../answer/find-element.ts';
import { parseXml, type XmlElement } from '../answer/xml-document.ts';
import { EQUIFAX_OPTIONS, equifaxAnswer, FORMATS, INQUIRY } from '../test-formats.ts';
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

/** Every element of a document in its order, by its path, with its attributes and its text. */
function listElements({ name, attributes, text, children }: XmlElement, path = ''): string[] {
  const at = path === '' ? name : `${path}/${name}`;
  const given = Object.entries(attributes).map(([key, value]) => ` @${key}=${value}`);
  const own = `${at}${given.join('')}${text === '' ? '' : ` = ${text}`}`;
  return [own, ...children.flatMap((child) => listElements(child, at))];
}

const CONSUMER = 'CNCustTransmitToEfx/CNRequests/CNConsumerRequests/CNConsumerRequest';

test('the XML has the elements of the format, and asks for an answer in English', () => {
  const { body } = makeRequest(
    { ...INQUIRY, reference: '0198c0de-0000-7000-8000-00000000f001' },
    credentialsOf(EquifaxTransport.FORM),
  );
  expect(listElements(parseXml(xmlOf(body)))).toEqual([
    'CNCustTransmitToEfx @xmlns=http://www.equifax.ca/XMLSchemas/CustToEfx',
    'CNCustTransmitToEfx/CNCustomerInfo',
    'CNCustTransmitToEfx/CNCustomerInfo/CustomerCode = A123',
    'CNCustTransmitToEfx/CNCustomerInfo/CustomerInfo',
    'CNCustTransmitToEfx/CNCustomerInfo/CustomerInfo/CustomerNumber = 999ZB12345',
    'CNCustTransmitToEfx/CNCustomerInfo/CustomerInfo/SecurityCode = a<b&"c',
    'CNCustTransmitToEfx/CNRequests',
    'CNCustTransmitToEfx/CNRequests/CNConsumerRequests',
    CONSUMER,
    `${CONSUMER}/Subjects`,
    `${CONSUMER}/Subjects/Subject @subjectType=SUBJ`,
    `${CONSUMER}/Subjects/Subject/SubjectName`,
    `${CONSUMER}/Subjects/Subject/SubjectName/LastName = O'Neil & <Sons>`,
    `${CONSUMER}/Subjects/Subject/SubjectName/FirstName = Zoë`,
    `${CONSUMER}/Subjects/Subject/SocialInsuranceNumber = 046454286`,
    `${CONSUMER}/Subjects/Subject/DateOfBirth = 1976-02-29`,
    `${CONSUMER}/Subjects/Subject/Occupation = Baker`,
    `${CONSUMER}/Subjects/Addresses`,
    `${CONSUMER}/Subjects/Addresses/Address @addressType=CURR`,
    `${CONSUMER}/Subjects/Addresses/Address/CivicNumber = 12`,
    `${CONSUMER}/Subjects/Addresses/Address/StreetName = Main St`,
    `${CONSUMER}/Subjects/Addresses/Address/Suite = 4B`,
    `${CONSUMER}/Subjects/Addresses/Address/City = Ottawa`,
    `${CONSUMER}/Subjects/Addresses/Address/Province @code=ON`,
    `${CONSUMER}/Subjects/Addresses/Address/PostalCode = K1A0B1`,
    `${CONSUMER}/Subjects/Addresses/Address @addressType=FORM`,
    `${CONSUMER}/Subjects/Addresses/Address/CivicNumber = 7`,
    `${CONSUMER}/Subjects/Addresses/Address/StreetName = Rue Côté`,
    `${CONSUMER}/Subjects/Addresses/Address/City = Laval`,
    `${CONSUMER}/Subjects/Addresses/Address/Province @code=QC`,
    `${CONSUMER}/Subjects/Addresses/Address/PostalCode = H7A1A1`,
    `${CONSUMER}/CustomerReferenceNumber = 000f001`,
    `${CONSUMER}/ECOAInquiryType = I`,
    `${CONSUMER}/JointAccessIndicator = N`,
    'CNCustTransmitToEfx/CNRequests/CNOutputParameters',
    'CNCustTransmitToEfx/CNRequests/CNOutputParameters/Language = EN',
  ]);
});

test('scoring products stand beside the output parameters', () => {
  const outputXml = `${EQUIFAX_OPTIONS.outputXml}<CNScoringProducts><ScoringProduct/></CNScoringProducts>`;
  const credentials = credentialsOf(EquifaxTransport.FORM);
  const { body } = makeEquifaxRequest(INQUIRY, credentials, { ...EQUIFAX_OPTIONS, outputXml });
  const requests = findElement(parseXml(xmlOf(body)), 'CNRequests');
  expect(requests?.children.map(({ name }) => name)).toEqual([
    'CNConsumerRequests',
    'CNOutputParameters',
    'CNScoringProducts',
  ]);
});

test('the reference has as many characters as the settings say, and its answer is compared with these', () => {
  const inquiry = { ...INQUIRY, reference: '0198c0de-0000-7000-8000-00000000f001' };
  const read = (referenceLength: number, repeated: string) => {
    const format = equifaxFormat({ ...EQUIFAX_OPTIONS, referenceLength });
    const header = `<Request><CustomerReferenceNumber>${repeated}</CustomerReferenceNumber></Request>`;
    const xml = equifaxAnswer('', `<HitCode code="2"/></CreditFile>${header}<CreditFile>`);
    const { body } = format.makeRequest(inquiry, credentialsOf(EquifaxTransport.FORM));
    const sent = /<CustomerReferenceNumber>(.*)<\/Cust/.exec(xmlOf(body))?.[1];
    return [sent, format.readRoot(parseXml(xml), inquiry).kind];
  };
  expect(read(36, inquiry.reference)).toEqual([inquiry.reference, 'file']);
  expect(read(12, '00000000F001')).toEqual(['00000000f001', 'file']);
  expect(read(4, 'f001')).toEqual(['f001', 'file']);
  expect(read(4, 'f002')).toEqual(['f001', 'foreign']);
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

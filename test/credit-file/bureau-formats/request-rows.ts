// What is known of the requests to Equifax Canada. That to TransUnion is known to subscribers only.
import { equifaxCredentials, FORMATS, INQUIRY } from '@creditlane/credit-file/test-formats';
import type { Known } from './format-row.ts';

/** A part of a request, whose text has the pattern. */
export interface RequestRow {
  wire: string;
  becomes: string;
  known: Known;
  text: () => string;
  pattern: RegExp;
}

const { makeRequest, makeTokenRequest } = FORMATS.equifax;
type Transport = Parameters<typeof equifaxCredentials>[0];
const bodyOf = (transport: Transport) => () =>
  makeRequest(INQUIRY, equifaxCredentials(transport), 'token').body;
const headersOf = (transport: Transport) => () =>
  JSON.stringify(makeRequest(INQUIRY, equifaxCredentials(transport), 'token').headers);
const xml = () => new URLSearchParams(bodyOf('FORM')()).get('InputSegments') ?? '';
const tokenRequest = () => JSON.stringify(makeTokenRequest(equifaxCredentials('OAUTH')));

const transport = (wire: string, text: () => string, pattern: RegExp): RequestRow => ({
  ...{ wire, becomes: 'sent', known: 'read', text, pattern },
});

const CONSUMER = 'CNRequests/CNConsumerRequests/CNConsumerRequest';
/** An element of the request's XML, at a path below its root, with an attribute of the last element or its text. */
const element = (path: string, becomes: string, end: string): RequestRow => ({
  ...{ wire: path, becomes, known: 'read', text: xml },
  pattern: new RegExp(
    `^.*<CNCustTransmitToEfx .*${path
      .split('/')
      .map((name) => `<${name.split(' ')[0]}`)
      .join('[ >].*')}${end}`,
    's',
  ),
});

export const EQUIFAX_REQUEST: readonly RequestRow[] = [
  transport(
    'Transport A: grant_type=client_credentials, Basic id and secret',
    tokenRequest,
    /Basic .*grant_type=client_credentials/,
  ),
  transport('Transport A: InputSegments with the bearer token', headersOf('OAUTH'), /Bearer token/),
  transport('Transport A: InputSegments alone', bodyOf('OAUTH'), /^InputSegments=[^&]*$/),
  transport(
    'Transport B: SOAP 1.2, Submit(InputSegment)',
    bodyOf('SOAP'),
    /2003\/05\/soap-envelope.*<Submit .*<InputSegment>/,
  ),
  transport(
    'Transport C: InputSegments and cmdSubmit=Submit',
    bodyOf('FORM'),
    /^InputSegments=.*&cmdSubmit=Submit$/,
  ),
  transport(
    'Namespace',
    xml,
    /<CNCustTransmitToEfx xmlns="http:\/\/www\.equifax\.ca\/XMLSchemas\/CustToEfx">/,
  ),
  element('CNCustomerInfo/CustomerCode', 'letter and three digits', '>A123<'),
  element('CNCustomerInfo/CustomerInfo/CustomerNumber', 'member number', '>999ZB12345<'),
  element('CNCustomerInfo/CustomerInfo/SecurityCode', 'security code', '>sesame<'),
  element(`${CONSUMER}/Subjects/Subject @subjectType`, 'SUBJ', ' subjectType="SUBJ">'),
  element(`${CONSUMER}/Subjects/Subject/SubjectName/LastName`, 'last name', '>O&apos;Neil '),
  element(`${CONSUMER}/Subjects/Subject/SubjectName/FirstName`, 'first name', '>Zoë<'),
  element(`${CONSUMER}/Subjects/Subject/SocialInsuranceNumber`, 'nine digits', '>046454286<'),
  element(`${CONSUMER}/Subjects/Subject/DateOfBirth`, 'yyyy-MM-dd', '>1976-02-29<'),
  element(`${CONSUMER}/Subjects/Subject/Occupation`, 'occupation', '>Baker<'),
  element(
    `${CONSUMER}/Subjects/Addresses/Address @addressType CURR`,
    'current address',
    ' addressType="CURR"><CivicNumber>12<',
  ),
  element(
    `${CONSUMER}/Subjects/Addresses/Address @addressType FORM`,
    'former address',
    '.*<Address addressType="FORM"><CivicNumber>7<',
  ),
  element(`${CONSUMER}/Subjects/Addresses/Address/CivicNumber`, 'street number', '>12<'),
  element(
    `${CONSUMER}/Subjects/Addresses/Address/StreetName`,
    'street, type and direction',
    '>Main St<',
  ),
  element(
    `${CONSUMER}/Subjects/Addresses/Address/Suite`,
    'apartment, unit, post-office box',
    '>4B<',
  ),
  element(`${CONSUMER}/Subjects/Addresses/Address/City`, 'city', '>Ottawa<'),
  element(`${CONSUMER}/Subjects/Addresses/Address/Province @code`, 'province', ' code="ON"/>'),
  element(`${CONSUMER}/Subjects/Addresses/Address/PostalCode`, 'without a blank', '>K1A0B1<'),
  element(`${CONSUMER}/CustomerReferenceNumber`, "the end of the pull's id", '>b1<'),
  element(`${CONSUMER}/ECOAInquiryType`, 'I', '>I<'),
  element(`${CONSUMER}/JointAccessIndicator`, 'N', '>N<'),
  element(
    'CNRequests/CNOutputParameters',
    'inside CNRequests',
    '>.*</CNOutputParameters></CNRequests>',
  ),
];

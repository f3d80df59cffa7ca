/** The HTTP requests of an inquiry at Equifax Canada, in its three transports. */
import {
  type EquifaxCredentials,
  EquifaxTransport,
} from '@creditlane/proto/creditfile/v1/bureau_credentials_service';
import type { BureauRequest, Inquiry, InquiryAddress } from '../bureau.ts';
import { escapeXml, textElement } from '../xml-text.ts';

export interface EquifaxRequestOptions {
  /** The URL for access tokens: absolute, or relative to the base URL of the credentials. */
  readonly tokenUrl: string;
  readonly tokenScope: string;
  /** Text before the XML, which some accounts need. */
  readonly inputHeader: string;
  /** How many characters of a reference are sent: its last ones. */
  readonly referenceLength: number;
  /** CNOutputParameters and CNScoringProducts: which language, scores and form the account has bought. */
  readonly outputXml: string;
  readonly soapNamespace: string;
}

const NAMESPACE = 'http://www.equifax.ca/XMLSchemas/CustToEfx';
const SOAP_NAMESPACE = 'http://www.w3.org/2003/05/soap-envelope';
const FORM = 'application/x-www-form-urlencoded';

/** The request for an access token (RFC 6749, 4.4); undefined for a transport without tokens. */
export function makeEquifaxTokenRequest(
  { transport, baseUrl, clientId, clientSecret }: EquifaxCredentials,
  { tokenUrl, tokenScope }: EquifaxRequestOptions,
): BureauRequest | undefined {
  if (transport !== EquifaxTransport.OAUTH) return undefined;
  const scope = tokenScope === '' ? {} : { scope: tokenScope };
  // Both are encoded as in a form before they are joined (RFC 6749, 2.3.1).
  const client = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`;
  return {
    // Without the slash, a relative URL would take the place of the base URL's last part.
    url: new URL(tokenUrl, baseUrl.replace(/\/?$/, '/')).href,
    headers: {
      'content-type': FORM,
      authorization: `Basic ${Buffer.from(client).toString('base64')}`,
      accept: 'application/json',
    },
    body: new URLSearchParams({ grant_type: 'client_credentials', ...scope }).toString(),
  };
}

/** @throws Error if the transport needs a token and there is none, or is not known */
export function makeEquifaxRequest(
  inquiry: Inquiry,
  credentials: EquifaxCredentials,
  options: EquifaxRequestOptions,
  token?: string,
): BureauRequest {
  const { transport, baseUrl: url } = credentials;
  const input = `${options.inputHeader}${writeInquiry(inquiry, credentials, options)}`;
  if (transport === EquifaxTransport.SOAP) {
    const { soapNamespace } = options;
    const action = `${soapNamespace}/Submit`;
    const submit = `<Submit xmlns="${escapeXml(soapNamespace)}">${textElement('InputSegment', input)}</Submit>`;
    return {
      url,
      headers: { 'content-type': `application/soap+xml; charset=utf-8; action="${action}"` },
      body: `<?xml version="1.0" encoding="UTF-8"?><soap:Envelope xmlns:soap="${SOAP_NAMESPACE}"><soap:Body>${submit}</soap:Body></soap:Envelope>`,
    };
  }
  if (transport === EquifaxTransport.FORM) {
    const body = new URLSearchParams({ InputSegments: input, cmdSubmit: 'Submit' }).toString();
    return { url, headers: { 'content-type': FORM }, body };
  }
  if (transport !== EquifaxTransport.OAUTH) throw new Error(`unknown transport ${transport}`);
  if (token === undefined) throw new Error('the transport needs an access token');
  return {
    url,
    headers: { 'content-type': FORM, authorization: `Bearer ${token}` },
    body: new URLSearchParams({ InputSegments: input }).toString(),
  };
}

/** The reference as it is sent: the end of an id, where it is random. */
export function sentReferenceOf(
  { reference }: Inquiry,
  { referenceLength }: EquifaxRequestOptions,
): string {
  return reference.length <= referenceLength
    ? reference
    : reference.replaceAll('-', '').slice(-referenceLength);
}

function writeInquiry(
  inquiry: Inquiry,
  { customerCode, customerNumber, securityCode }: EquifaxCredentials,
  options: EquifaxRequestOptions,
): string {
  const { subject } = inquiry;
  const name = [
    textElement('LastName', subject.lastName),
    textElement('FirstName', subject.firstName),
  ].join('');
  const person = [
    `<SubjectName>${name}</SubjectName>`,
    textElement('SocialInsuranceNumber', subject.sin),
    textElement('DateOfBirth', subject.dateOfBirth),
    textElement('Occupation', subject.occupation),
  ].join('');
  const customer = [
    textElement('CustomerNumber', customerNumber),
    textElement('SecurityCode', securityCode),
  ].join('');
  const request = [
    `<Subjects><Subject subjectType="SUBJ">${person}</Subject>`,
    `<Addresses>${subject.addresses.map(writeAddress).join('')}</Addresses></Subjects>`,
    textElement('CustomerReferenceNumber', sentReferenceOf(inquiry, options)),
    '<ECOAInquiryType>I</ECOAInquiryType><JointAccessIndicator>N</JointAccessIndicator>',
  ].join('');
  return [
    `<?xml version="1.0" encoding="UTF-8"?><CNCustTransmitToEfx xmlns="${NAMESPACE}">`,
    `<CNCustomerInfo>${textElement('CustomerCode', customerCode)}`,
    `<CustomerInfo>${customer}</CustomerInfo></CNCustomerInfo>`,
    `<CNRequests><CNConsumerRequests><CNConsumerRequest>${request}</CNConsumerRequest>`,
    `</CNConsumerRequests>${options.outputXml}</CNRequests></CNCustTransmitToEfx>`,
  ].join('');
}

/** The first address is the current one. */
function writeAddress(
  { streetNo, streetName, suite, city, province, postalCode }: InquiryAddress,
  index: number,
): string {
  const contents = [
    textElement('CivicNumber', streetNo),
    textElement('StreetName', streetName),
    textElement('Suite', suite),
    textElement('City', city),
    `<Province code="${escapeXml(province)}"/>`,
    textElement('PostalCode', postalCode.replace(/\s/g, '')),
  ].join('');
  return `<Address addressType="${index === 0 ? 'CURR' : 'FORM'}">${contents}</Address>`;
}

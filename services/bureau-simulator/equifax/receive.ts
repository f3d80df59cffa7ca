/** Equifax Canada's three transports: a form with an access token, a SOAP 1.2 message, and the older form. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerError, answerJson } from '@creditlane/runtime/http/development-server';
import type { EquifaxAccount } from '../accounts.ts';
import type { Bureau, ReceivedRequest } from '../bureau.ts';
import { escapeXml } from '../escape-xml.ts';
import type { AnswerForm } from '../send-answer.ts';
import { findElement, readXml, textOf, type XmlElement } from '../xml-document.ts';
import type { AccessTokens } from './access-tokens.ts';
import { findRefusal, missingTag, readCustomer, readSubject } from './read-request.ts';

const REQUEST_NAMESPACE = 'http://www.equifax.ca/XMLSchemas/CustToEfx';
const SOAP_NAMESPACE = 'http://www.w3.org/2003/05/soap-envelope';

export interface EquifaxDeps {
  accounts: readonly EquifaxAccount[];
  tokens: AccessTokens;
}

const PLAIN: AnswerForm = {
  contentType: 'text/xml; charset=utf-8',
  wrap: (xml) => xml,
};

/** The bureau behind the transports. Which one a request uses follows from its headers and fields. */
export function createEquifax({ accounts, tokens }: EquifaxDeps): Bureau {
  const readSegment = (segment: string, form: AnswerForm): ReceivedRequest => {
    // A fixed header may come before the XML.
    const root = readXml(segment.slice(Math.max(0, segment.indexOf('<'))));
    const isRequest = root?.name === 'CNCustTransmitToEfx' && root.namespace === REQUEST_NAMESPACE;
    if (!isRequest) return { form, refusal: missingTag('CNCustTransmitToEfx') };
    const subject = readSubject(root);
    const { customerNumber: member } = readCustomer(root);
    const inquiry = { source: 'EQUIFAX' as const, member, ...subject };
    return { form, inquiry, refusal: findRefusal(root, subject, accounts) };
  };

  return (request, body, response) => {
    const type = mediaType(request);
    if (type === 'application/soap+xml') return readSoap(body, response, readSegment);
    if (type !== 'application/x-www-form-urlencoded') {
      return void answerError(response, 415, 'expected a form or a SOAP 1.2 message');
    }
    const fields = new URLSearchParams(body);
    if (fields.has('grant_type')) return void tokens.answer(request, fields, response);
    const isOlderForm = fields.get('cmdSubmit') === 'Submit';
    if (request.headers.authorization !== undefined || !isOlderForm) {
      if (!tokens.permits(request)) return void refuseToken(request, response);
    }
    return readSegment(fields.get('InputSegments') ?? '', PLAIN);
  };
}

function mediaType(request: IncomingMessage): string {
  return (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

/** RFC 6750, 3: a request without a token is not notified of an error. */
function refuseToken(request: IncomingMessage, response: ServerResponse): void {
  const hasToken = request.headers.authorization !== undefined;
  response.setHeader(
    'www-authenticate',
    `Bearer realm="bureau simulator"${hasToken ? ', error="invalid_token"' : ''}`,
  );
  answerJson(response, 401, { error: hasToken ? 'invalid_token' : 'missing_token' });
}

/** Reads service STSRequest, operation Submit(InputSegment), in whatever namespace its elements are. */
function readSoap(
  body: string,
  response: ServerResponse,
  readSegment: (segment: string, form: AnswerForm) => ReceivedRequest,
): ReceivedRequest | undefined {
  const envelope = readXml(body);
  const submit = findElement(envelope, 'Body', 'Submit');
  if (envelope?.namespace !== SOAP_NAMESPACE || submit === undefined) {
    response.writeHead(400, { 'content-type': SOAP_TYPE });
    response.end(writeEnvelope(FAULT));
    return undefined;
  }
  return readSegment(textOf(submit, 'InputSegment'), soapForm(submit));
}

const SOAP_TYPE = 'application/soap+xml; charset=utf-8';
const FAULT =
  '<soap:Fault><soap:Code><soap:Value>soap:Sender</soap:Value></soap:Code>' +
  '<soap:Reason><soap:Text xml:lang="en">expected the operation Submit</soap:Text></soap:Reason></soap:Fault>';

/** The answer's XML is the text of SubmitResult. */
function soapForm(submit: XmlElement): AnswerForm {
  return {
    ...PLAIN,
    contentType: SOAP_TYPE,
    wrap: (xml) => {
      const xmlns = submit.namespace === '' ? '' : ` xmlns="${escapeXml(submit.namespace)}"`;
      const result = `<SubmitResult>${escapeXml(xml)}</SubmitResult>`;
      return writeEnvelope(`<SubmitResponse${xmlns}>${result}</SubmitResponse>`);
    },
  };
}

function writeEnvelope(contents: string): string {
  const body = `<soap:Body>${contents}</soap:Body>`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<soap:Envelope xmlns:soap="${SOAP_NAMESPACE}">${body}</soap:Envelope>
`;
}

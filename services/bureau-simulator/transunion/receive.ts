/** TransUnion Canada's transport, with a request that the simulator has defined: none is publicly known. */
import { answerError } from '@creditlane/runtime/http/development-server';
import { isKnownAccount, type TransUnionAccount } from '../accounts.ts';
import type { Bureau } from '../bureau.ts';
import { BAD_CREDENTIALS, MISSING_TAG } from '../personas/failing-personas.ts';
import type { ProviderError } from '../personas/persona.ts';
import type { AnswerForm } from '../send-answer.ts';
import { findElement, readXml, textOf, type XmlElement } from '../xml-document.ts';
import { writeTransUnionError } from './answer.ts';

const FORM: AnswerForm = {
  contentType: 'text/xml; charset=utf-8',
  wrap: (xml) => xml,
  writeError: writeTransUnionError,
};

const REQUIRED = ['LastName', 'FirstName', 'DOB'];

/** The bureau behind SOAP 1.1, operation ProcessRequestXML, as in `REQUEST_TEMPLATE`. */
export function createTransUnion(accounts: readonly TransUnionAccount[]): Bureau {
  return (request, body, response) => {
    if (!/^(text|application)\/xml\b/i.test(request.headers['content-type'] ?? '')) {
      return void answerError(response, 415, 'expected XML');
    }
    const received = findElement(readXml(body), 'Body', 'ProcessRequestXML', 'Request');
    if (received === undefined) return { form: FORM, problem: MISSING_TAG.TRANSUNION };
    const inquiry = {
      source: 'TRANSUNION' as const,
      member: textOf(received, 'MemberCode'),
      reference: textOf(received, 'UserReference'),
      ...readSubject(findElement(received, 'Subject')),
    };
    const problem = findProblem(received, accounts);
    return problem === undefined ? { form: FORM, inquiry } : { form: FORM, inquiry, problem };
  };
}

function readSubject(subject: XmlElement | undefined) {
  const of = (...path: string[]) => textOf(subject, ...path);
  return {
    firstName: of('FirstName'),
    lastName: of('LastName'),
    sin: of('SIN'),
    dateOfBirth: of('DOB'),
    address: {
      streetNo: of('Address', 'StreetNumber'),
      streetName: of('Address', 'StreetName'),
      city: of('Address', 'City'),
      province: of('Address', 'Prov'),
      postalCode: of('Address', 'Postal'),
    },
  };
}

function findProblem(
  received: XmlElement,
  accounts: readonly TransUnionAccount[],
): ProviderError | undefined {
  const account = {
    memberCode: textOf(received, 'MemberCode'),
    password: textOf(received, 'Password'),
  };
  if (!isKnownAccount(accounts, account)) return BAD_CREDENTIALS.TRANSUNION;
  const isIncomplete = REQUIRED.some((name) => textOf(received, 'Subject', name) === '');
  return isIncomplete ? MISSING_TAG.TRANSUNION : undefined;
}

/** TransUnion Canada's transport, with a request that the simulator has defined: none is publicly known. */
import { answerError } from '@creditlane/runtime/http/development-server';
import { isKnownAccount, type TransUnionAccount } from '../accounts.ts';
import type { Bureau } from '../bureau.ts';
import { refusalOf } from '../personas/answers.ts';
import type { AnswerForm } from '../send-answer.ts';
import { findElement, readXml, textOf, type XmlElement } from '../xml-document.ts';

const FORM: AnswerForm = {
  contentType: 'text/xml; charset=utf-8',
  wrap: (xml) => xml,
};

const MISSING_ELEMENT = 'tim-tagless';
const REQUIRED = ['LastName', 'FirstName', 'DOB'];

/** The bureau behind SOAP 1.1, operation ProcessRequestXML, as in `REQUEST_TEMPLATE`. */
export function createTransUnion(accounts: readonly TransUnionAccount[]): Bureau {
  return (request, body, response) => {
    if (!/^(text|application)\/xml\b/i.test(request.headers['content-type'] ?? '')) {
      return void answerError(response, 415, 'expected XML');
    }
    const received = findElement(readXml(body), 'Body', 'ProcessRequestXML', 'Request');
    if (received === undefined) {
      return { form: FORM, refusal: refusalOf('TRANSUNION', MISSING_ELEMENT) };
    }
    const inquiry = {
      source: 'TRANSUNION' as const,
      member: textOf(received, 'MemberCode'),
      reference: textOf(received, 'UserReference'),
      requestNumber: '1',
      ...readSubject(findElement(received, 'Subject')),
    };
    return { form: FORM, inquiry, refusal: findRefusal(received, accounts) };
  };
}

function readSubject(subject: XmlElement | undefined) {
  const of = (...path: string[]) => textOf(subject, ...path);
  return {
    firstName: of('FirstName'),
    lastName: of('LastName'),
    sin: of('SIN'),
    dateOfBirth: of('DOB'),
  };
}

function findRefusal(
  received: XmlElement,
  accounts: readonly TransUnionAccount[],
): string | undefined {
  const account = {
    memberCode: textOf(received, 'MemberCode'),
    password: textOf(received, 'Password'),
  };
  if (!isKnownAccount(accounts, account)) return refusalOf('TRANSUNION', 'bea-badlogin');
  const isIncomplete = REQUIRED.some((name) => textOf(received, 'Subject', name) === '');
  return isIncomplete ? refusalOf('TRANSUNION', MISSING_ELEMENT) : undefined;
}

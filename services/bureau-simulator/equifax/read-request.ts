/** Reads Equifax Canada's request: who is asked about, by whom, and what is wrong with it. */
import { type EquifaxAccount, isKnownAccount } from '../accounts.ts';
import { refusalOf } from '../personas/answers.ts';
import { attributeOf, findElement, textOf, type XmlElement } from '../xml-document.ts';
import { findFault } from './request-form.ts';

const PROVINCES = new Set('AB BC MB NB NL NS NT NU ON PE QC SK YT'.split(' '));

/** The person of a request, and where the person lives; what is absent is "". */
export function readSubject(root: XmlElement) {
  const consumer = ['CNRequests', 'CNConsumerRequests', 'CNConsumerRequest'];
  const subjects = findElement(root, ...consumer, 'Subjects');
  const subject = findElement(subjects, 'Subject');
  const address = findElement(subjects, 'Addresses', 'Address');
  return {
    reference: textOf(root, ...consumer, 'CustomerReferenceNumber'),
    requestNumber: attributeOf(findElement(root, ...consumer), 'requestNumber') || '1',
    firstName: textOf(subject, 'SubjectName', 'FirstName'),
    lastName: textOf(subject, 'SubjectName', 'LastName'),
    sin: textOf(subject, 'SocialInsuranceNumber'),
    dateOfBirth: textOf(subject, 'DateOfBirth'),
    city: textOf(address, 'City'),
    province: attributeOf(findElement(address, 'Province'), 'code'),
  };
}

type ReadSubject = ReturnType<typeof readSubject>;

/** The retailer's number and codes with the bureau. */
export function readCustomer(root: XmlElement) {
  const customer = findElement(root, 'CNCustomerInfo');
  return {
    customerCode: textOf(customer, 'CustomerCode'),
    customerNumber: textOf(customer, 'CustomerInfo', 'CustomerNumber'),
    securityCode: textOf(customer, 'CustomerInfo', 'SecurityCode'),
  };
}

/** The bureau's answer to a request that it refuses; undefined for one that it answers with a file. */
export function findRefusal(
  root: XmlElement,
  { city, province }: ReadSubject,
  accounts: readonly EquifaxAccount[],
): string | undefined {
  const customer = readCustomer(root);
  if (!isKnownAccount(accounts, customer)) {
    return refusalOf('EQUIFAX', 'bea-badlogin');
  }
  const fault = findFault(root);
  if (fault !== undefined) return missingTag(fault);
  if (!/\p{Letter}/u.test(city)) return refusalOf('EQUIFAX', 'cy-badcity');
  if (!PROVINCES.has(province)) return refusalOf('EQUIFAX', 'pru-badprovince');
  return undefined;
}

/** The bureau's answer to a request without an element that it needs, or with one that it cannot read. */
export function missingTag(name: string): string {
  return refusalOf('EQUIFAX', 'tim-tagless', name);
}

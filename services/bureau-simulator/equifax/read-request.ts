/** Reads Equifax Canada's request: who is asked about, by whom, and what is wrong with it. */
import { type EquifaxAccount, isKnownAccount } from '../accounts.ts';
import { BAD_CREDENTIALS, MISSING_TAG } from '../personas/failing-personas.ts';
import type { ProviderError } from '../personas/persona.ts';
import { attributeOf, findElement, textOf, type XmlElement } from '../xml-document.ts';

const PROVINCES = new Set('AB BC MB NB NL NS NT NU ON PE QC SK YT'.split(' '));
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** The person and the addresses of a request; what is absent is "". */
export function readSubject(root: XmlElement) {
  const consumer = ['CNRequests', 'CNConsumerRequests', 'CNConsumerRequest'];
  const subjects = findElement(root, ...consumer, 'Subjects');
  const subject = findElement(subjects, 'Subject');
  const address = findElement(subjects, 'Addresses', 'Address');
  return {
    reference: textOf(root, ...consumer, 'CustomerReferenceNumber'),
    firstName: textOf(subject, 'SubjectName', 'FirstName'),
    lastName: textOf(subject, 'SubjectName', 'LastName'),
    sin: textOf(subject, 'SocialInsuranceNumber'),
    dateOfBirth: textOf(subject, 'DateOfBirth'),
    address: {
      streetNo: textOf(address, 'CivicNumber'),
      streetName: textOf(address, 'StreetName'),
      city: textOf(address, 'City'),
      province: attributeOf(findElement(address, 'Province'), 'code'),
      postalCode: textOf(address, 'PostalCode'),
    },
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

/** The error of the bureau to a request; undefined for one that it answers with a file. */
export function findProblem(
  root: XmlElement,
  subject: ReadSubject,
  accounts: readonly EquifaxAccount[],
): ProviderError | undefined {
  const customer = readCustomer(root);
  if (!isKnownAccount(accounts, customer)) return BAD_CREDENTIALS.EQUIFAX;
  const missing = findMissing(subject);
  if (missing !== undefined) return { ...MISSING_TAG.EQUIFAX, detail: missing };
  const { city, province } = subject.address;
  if (!/\p{Letter}/u.test(city)) return { code: 'EV304', description: 'Invalid city' };
  if (!PROVINCES.has(province)) return { code: 'EV305', description: 'Invalid province' };
  return undefined;
}

function findMissing({ firstName, lastName, dateOfBirth, address }: ReadSubject) {
  const required: readonly [string, boolean][] = [
    ['LastName', lastName !== ''],
    ['FirstName', firstName !== ''],
    ['DateOfBirth', DATE.test(dateOfBirth)],
    ['City', address.city !== ''],
    ['Province', address.province !== ''],
  ];
  return required.find(([, isPresent]) => !isPresent)?.[0];
}

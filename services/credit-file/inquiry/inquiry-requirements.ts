/** What an inquiry needs to know of a person. Without it a bureau finds nobody, or somebody else, at the person's cost. */
import type { Applicant } from '@creditlane/proto/applications/v1/application';
import { type FieldFault, invalidFields } from '@creditlane/rpc/fault';
import { torontoDate } from '@creditlane/runtime/calendar-date';
import { parsePostalCode, provincesOf } from '@creditlane/runtime/postal-code';
import type { Source } from '../bureaus/bureau.ts';
import { currentAddressOf } from './inquiry-subject.ts';

/** The bureaus whose requests have an element for each name, of which none may be missing. */
const NEED_BOTH_NAMES: ReadonlySet<Source> = new Set(['EQUIFAX', 'TRANSUNION']);

/** The ages of majority, by provincial law. */
const AGE_OF_MAJORITY: Readonly<Record<string, number>> = {
  ...{ AB: 18, MB: 18, ON: 18, PE: 18, QC: 18, SK: 18 },
  ...{ BC: 19, NB: 19, NL: 19, NS: 19, NT: 19, NU: 19, YT: 19 },
};

/**
 * What keeps an inquiry from being sent; empty for a person who may be asked about. Each pointer is one into the applicant.
 */
export function findInquiryProblems(applicant: Applicant, source: Source, now: Date): FieldFault[] {
  const problems: FieldFault[] = [];
  const check = (isMet: boolean, pointer: string, message: string) => {
    if (!isMet) problems.push({ pointer, message });
  };
  const { firstName, lastName, dateOfBirth, addressHistory } = applicant;
  if (NEED_BOTH_NAMES.has(source)) {
    check(isWritten(firstName), '/firstName', `must be a name, which ${source} needs`);
    check(isWritten(lastName), '/lastName', `must be a name, which ${source} needs`);
  }
  const address = currentAddressOf(applicant);
  if (address === undefined) {
    problems.push({ pointer: '/addressHistory', message: 'must have the current address' });
    return problems;
  }
  const at = `/addressHistory/${addressHistory.indexOf(address)}`;
  const age = AGE_OF_MAJORITY[address.province];
  check(isWritten(address.city), `${at}/city`, 'must be the city of the current address');
  check(age !== undefined, `${at}/province`, 'must be the province of the current address');
  const hasPlace = isWritten(address.streetName) || address.pOBoxNumber.trim() !== '';
  check(hasPlace, `${at}/streetName`, 'must be a street, or the address a post-office box');
  const code = parsePostalCode(address.postalCode);
  if (code !== undefined && age !== undefined) {
    const isOfProvince = provincesOf(code).includes(address.province);
    check(isOfProvince, `${at}/postalCode`, `must be a postal code of ${address.province}`);
  }
  if (age !== undefined) {
    const [year = '', ...monthAndDay] = dateOfBirth.split('-');
    const comesOfAge = [String(Number(year) + age), ...monthAndDay].join('-');
    const message = `must be of a person who is ${age} years old, the age of majority in ${address.province}`;
    check(comesOfAge <= torontoDate(now), '/dateOfBirth', message);
  }
  return problems;
}

/** @throws Fault `applicant_incomplete` with each problem of `findInquiryProblems` */
export function requireInquiry(applicant: Applicant, source: Source, now: Date): void {
  const problems = findInquiryProblems(applicant, source, now);
  if (problems.length > 0) throw invalidFields('applicant_incomplete', problems);
}

/** Whether there is a letter or a digit: some write a hyphen for what they do not know. */
function isWritten(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

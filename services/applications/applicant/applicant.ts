/** The rules for an applicant: which fields are valid, and which part of an applicant answers show. */
import { create } from '@bufbuild/protobuf';
import {
  type Address,
  type Applicant,
  ApplicantSchema,
  type Employment,
} from '@creditlane/proto/applications/v1/application';
import type { FieldFaults } from '@creditlane/rpc/field-faults';
import { POSTAL_CODE_RULE, parsePostalCode, provincesOf } from '@creditlane/runtime/postal-code';
import { parsePhoneNumber } from './phone-number.ts';
import { maskSin, parseSin } from './sin.ts';

// The REST interface closes these lists; the proto has their values as text.
const list = (values: string) => new Set(values.split(' '));
const DIRECTIONS = list('N NE E SE S SW W NW');
const PROVINCES = list('AB BC MB NB NL NS NT NU ON PE QC SK YT');
const RESIDENCE_TYPES = list(
  'RENT OWN_FREE_AND_CLEAR OWN_WITH_MORTGAGE OWN_MOBILE_HOME RESERVE_HOUSING WITH_PARENTS OTHER',
);
const EMPLOYMENT_STATUSES = list(
  'FULL_TIME FULL_TIME_PROBATION PART_TIME PART_TIME_CASUAL RETIRED SEASONAL_SUMMER SEASONAL_WINTER ' +
    'SELF_EMPLOYED UNEMPLOYED',
);
const EMPLOYMENT_TYPES = list(
  'AT_HOME EXECUTIVE LABOURER MANAGEMENT OFFICE_STAFF OTHER PRODUCTION PROFESSIONAL RETIRED SALES ' +
    'SELF_EMPLOYED SERVICE STUDENT TRADES UNEMPLOYED',
);

const INCOME_SOURCES = list(
  'CAR_ALLOWANCE CHILD_SUPPORT DISABILITY_PAYMENTS INVESTMENT_INCOME PENSIONS RENTAL_INCOME ' +
    'WORKERS_COMPENSATION OTHER',
);

const PLACE_TEXTS = ['apartmentSuite', 'streetNo', 'streetName', 'streetType', 'city'] as const;
const ADDRESS_TEXTS = [...PLACE_TEXTS, 'addressType', 'pOBoxNumber', 'searchAddress'] as const;
const EMPLOYMENT_TEXTS = [...PLACE_TEXTS, 'employerName', 'occupation'] as const;

/** Other years are typing errors. */
const YEARS_OF_BIRTH = [1900, 2100] as const;
const MAX_AGE_YEARS = 120;

/**
 * Makes the applicant that a request describes, with a new id, the bare digits of the social insurance number, telephone
 * numbers in the form of E.164 and postal codes as Canada Post writes them. Adds wrong fields to `faults`, by pointers that
 * begin with `at`; no message repeats a value.
 *
 * @param today yyyy-MM-dd
 */
export function newApplicant(
  input: Applicant,
  id: string,
  at: string,
  today: string,
  faults: FieldFaults,
): Applicant {
  const sin = input.sin === '' ? '' : parseSin(input.sin);
  if (sin === undefined) faults.add(`${at}/sin`, 'must be nine digits with a valid check digit');
  faults.checkPersonNames(at, input);
  checkDateOfBirth(input.dateOfBirth, `${at}/dateOfBirth`, today, faults);
  if (input.email !== '' && !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(input.email)) {
    faults.add(`${at}/email`, 'must be an e-mail address');
  }
  return create(ApplicantSchema, {
    ...input,
    applicantId: id,
    sin: sin ?? '',
    phoneNumber: readPhoneNumber(input.phoneNumber, `${at}/phoneNumber`, faults),
    addressHistory: input.addressHistory.map((address, index) =>
      readAddress(address, `${at}/addressHistory/${index}`, faults),
    ),
    employmentHistory: input.employmentHistory.map((employment, index) =>
      readEmployment(employment, `${at}/employmentHistory/${index}`, faults),
    ),
    erasedAt: undefined,
  });
}

/** An applicant as answers show it: only the last digits of the social insurance number. */
export function maskedApplicant(applicant: Applicant): Applicant {
  return create(ApplicantSchema, { ...applicant, sin: maskSin(applicant.sin) });
}

function checkDateOfBirth(date: string, at: string, today: string, faults: FieldFaults): void {
  if (!faults.checkDate(at, date, YEARS_OF_BIRTH)) return;
  const earliest = `${Number(today.slice(0, 4)) - MAX_AGE_YEARS}${today.slice(4)}`;
  if (date >= today) faults.add(at, 'must be in the past');
  else if (date < earliest) faults.add(at, `must not be more than ${MAX_AGE_YEARS} years ago`);
}

function readPhoneNumber(text: string, at: string, faults: FieldFaults): string {
  const number = text === '' ? '' : parsePhoneNumber(text);
  if (number === undefined) {
    faults.add(at, 'must be a telephone number with area code, such as 514-555-0143 ext. 12');
  }
  return number ?? '';
}

function readPostalCode(
  { postalCode, province }: Pick<Address, 'postalCode' | 'province'>,
  at: string,
  faults: FieldFaults,
): string {
  if (postalCode === '') return '';
  const code = parsePostalCode(postalCode);
  if (code === undefined) {
    faults.add(at, POSTAL_CODE_RULE);
    return '';
  }
  const provinces = provincesOf(code);
  if (province !== '' && !provinces.includes(province)) {
    faults.add(
      at,
      `must agree with the province: its first letter is that of ${provinces.join(' and ')}`,
    );
  }
  return code;
}

function readAddress(address: Address, at: string, faults: FieldFaults): Address {
  for (const name of ADDRESS_TEXTS) faults.checkPrintable(`${at}/${name}`, address[name]);
  faults.checkOneOf(`${at}/direction`, address.direction, DIRECTIONS);
  faults.checkOneOf(`${at}/province`, address.province, PROVINCES);
  faults.checkOneOf(`${at}/residenceType`, address.residenceType, RESIDENCE_TYPES);
  faults.checkNotNegative(`${at}/monthlyRentOrMortgage`, address.monthlyRentOrMortgage);
  faults.checkNotNegative(`${at}/yearsAtAddress`, address.yearsAtAddress);
  faults.checkNotNegative(`${at}/monthsAtAddress`, address.monthsAtAddress);
  return { ...address, postalCode: readPostalCode(address, `${at}/postalCode`, faults) };
}

function readEmployment(employment: Employment, at: string, faults: FieldFaults): Employment {
  for (const name of EMPLOYMENT_TEXTS) faults.checkPrintable(`${at}/${name}`, employment[name]);
  faults.checkOneOf(`${at}/status`, employment.status, EMPLOYMENT_STATUSES);
  faults.checkOneOf(`${at}/type`, employment.type, EMPLOYMENT_TYPES);
  for (const [index, source] of employment.additionalIncomeSources.entries()) {
    faults.checkOneOf(`${at}/additionalIncomeSources/${index}`, source, INCOME_SOURCES);
  }
  faults.checkOneOf(`${at}/direction`, employment.direction, DIRECTIONS);
  faults.checkOneOf(`${at}/province`, employment.province, PROVINCES);
  faults.checkNotNegative(`${at}/grossIncome`, employment.grossIncome);
  faults.checkNotNegative(`${at}/yearsWorked`, employment.yearsWorked);
  faults.checkNotNegative(`${at}/monthsWorked`, employment.monthsWorked);
  return {
    ...employment,
    employmentPhone: readPhoneNumber(employment.employmentPhone, `${at}/employmentPhone`, faults),
    postalCode: readPostalCode(employment, `${at}/postalCode`, faults),
  };
}

/** The request to TransUnion Canada, whose format is not publicly known: a template of the operator's. */
import type { TransUnionCredentials } from '@creditlane/proto/creditfile/v1/bureau_credentials_service';
import { LoggableError } from '@creditlane/runtime/telemetry/loggable-error';
import { parseXml } from '../answer/xml-document.ts';
import type { Inquiry } from '../bureau.ts';
import { escapeXml } from '../xml-text.ts';

/** Without a template no request can be made, and with a wrong one none is right. The message says what to do. */
export class RequestTemplateError extends LoggableError {}

/** The values of an inquiry by the names of their placeholders, such as `{{lastName}}`. */
export interface TemplateValues {
  reference: string;
  memberCode: string;
  password: string;
  firstName: string;
  lastName: string;
  /** Nine digits; empty when unknown, as is the occupation. */
  sin: string;
  /** yyyy-MM-dd, and without the signs between. */
  dateOfBirth: string;
  dateOfBirthDigits: string;
  occupation: string;
  streetNo: string;
  streetName: string;
  /** Apartment or unit, and a post-office box beside a street; often empty. */
  suite: string;
  city: string;
  province: string;
  /** Without a space. */
  postalCode: string;
  /** From the settings: what the account has bought, and the certificate that it is known by. */
  product: string;
  certificate: string;
}

const NAMES: Record<keyof TemplateValues, 'required' | 'optional'> = {
  reference: 'optional',
  memberCode: 'required',
  password: 'required',
  firstName: 'required',
  lastName: 'required',
  sin: 'optional',
  dateOfBirth: 'optional',
  dateOfBirthDigits: 'optional',
  occupation: 'optional',
  streetNo: 'optional',
  streetName: 'optional',
  suite: 'optional',
  city: 'optional',
  province: 'optional',
  postalCode: 'optional',
  product: 'optional',
  certificate: 'optional',
};

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;

/**
 * A function that puts values into the template, each escaped for XML.
 *
 * @throws RequestTemplateError if the template is missing, has unknown placeholders, or lacks one that every inquiry needs
 * @throws XmlError if it is no well-formed XML
 */
export function compileTemplate(template: string): (values: TemplateValues) => string {
  if (template.trim() === '') {
    fail(
      'there is none: TransUnion gives its request format to subscribers only, so it has to be set',
    );
  }
  const used = new Set([...template.matchAll(PLACEHOLDER)].map(([, name = '']) => name.trim()));
  const unknown = [...used].filter((name) => !Object.hasOwn(NAMES, name));
  const known = Object.keys(NAMES).join(', ');
  if (unknown.length > 0) fail(`{{${unknown[0]}}} is no placeholder; there are ${known}`);
  for (const [name, need] of Object.entries(NAMES)) {
    if (need === 'required' && !used.has(name)) fail(`{{${name}}} is missing`);
  }
  if (!used.has('dateOfBirth') && !used.has('dateOfBirthDigits')) {
    fail('{{dateOfBirth}} or {{dateOfBirthDigits}} is missing');
  }
  if (/\{\{|\}\}/.test(template.replace(PLACEHOLDER, ''))) fail('a {{ or }} has no counterpart');
  parseXml(template.replace(PLACEHOLDER, 'x').trim());
  return (values) =>
    template.replace(PLACEHOLDER, (_all, name: string) =>
      escapeXml(values[name.trim() as keyof TemplateValues]),
    );
}

/** @param settings the values that are the same for every inquiry */
export function templateValues(
  { reference, subject }: Inquiry,
  { memberCode, password }: TransUnionCredentials,
  settings: Pick<TemplateValues, 'product' | 'certificate'>,
): TemplateValues {
  const [address] = subject.addresses;
  return {
    reference,
    memberCode,
    password,
    firstName: subject.firstName,
    lastName: subject.lastName,
    sin: subject.sin ?? '',
    dateOfBirth: subject.dateOfBirth,
    dateOfBirthDigits: subject.dateOfBirth.replaceAll('-', ''),
    occupation: subject.occupation ?? '',
    streetNo: address?.streetNo ?? '',
    streetName: address?.streetName ?? '',
    suite: address?.suite ?? '',
    city: address?.city ?? '',
    province: address?.province ?? '',
    postalCode: address?.postalCode.replace(/\s/g, '') ?? '',
    ...settings,
  };
}

function fail(problem: string): never {
  throw new RequestTemplateError(`the request template of TransUnion: ${problem}`);
}

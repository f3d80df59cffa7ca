/** Turns the errors of a validator into messages that name the field as the request spells it. */
import { type FieldFault, pointerStep } from '@creditlane/rpc/fault';
import { POSTAL_CODE_RULE } from '@creditlane/runtime/postal-code';
import type { ErrorObject } from 'ajv';
import { ONE_LINE } from './openapi-document.ts';

/** A refused field; `in` tells the kind of parameter, and is absent where `pointer` leads into the body. */
export type FieldError = FieldFault & { in?: string };

const TYPES: Record<string, string> = {
  array: 'a list',
  boolean: 'true or false',
  integer: 'a whole number',
  number: 'a number',
  object: 'an object',
  string: 'a string',
};

const FORMATS: Record<string, string> = {
  date: 'a calendar date such as 2026-03-31',
  'date-time': 'a date and time such as 2026-03-31T14:30:00Z',
  email: 'an e-mail address',
  uri: 'a URL such as https://www.example.com',
  uuid: 'a UUID',
};

/** Words for each pattern that a request must match: a test compares the list with the document. */
export const PATTERNS: Readonly<Record<string, string>> = {
  [ONE_LINE]: 'must not contain control characters',
  '^ *[^\\s\\x00-\\x1F\\x7F-\\x9F\\u2028\\u2029\\u202A-\\u202E\\u2066-\\u2069][^\\x00-\\x1F\\x7F-\\x9F\\u2028\\u2029\\u202A-\\u202E\\u2066-\\u2069]*$':
    'must not be blank, nor contain control characters',
  '^\\s*[^\\s\\x00][^\\x00]*$': 'must not be blank',
  '^[^\\x00]*$': 'must not contain U+0000',
  '^(20[0-9]{2}|2100)-': 'must be a date of the years 2000 to 2100',
  '^(19[0-9]{2}|20[0-9]{2}|2100)-': 'must be a date of the years 1900 to 2100',
  '^[0-9]{3}[- ]?[0-9]{3}[- ]?[0-9]{3}$': 'must be nine digits with a valid check digit',
  '^[0-9a-f]{64}$': 'must be 64 hexadecimal digits in lower case',
  '^[A-Z][0-9]{3}$': 'must be a letter and three digits, such as A123',
  '^[0-9]{3}[A-Z]{2}[0-9]{5}$': 'must be a member number such as 999ZB12345',
  '^ *[ABCEGHJ-NPRSTVXYabceghj-nprstvxy][0-9][ABCEGHJ-NPRSTV-Zabceghj-nprstv-z][ -]*[0-9][ABCEGHJ-NPRSTV-Zabceghj-nprstv-z][0-9] *$':
    POSTAL_CODE_RULE,
  '^[\\x20-\\x7E]*$': 'must have visible ASCII characters and spaces only',
};

/** Longer names that a client chose are cut. */
const MAX_NAME_LENGTH = 50;

/** The errors that say most of a field. */
const TELLING = ['enum', 'format'];

/** One error for each wrong field: the list of accepted values or the format if it has one, otherwise the first error. */
export function fieldErrors(errors: readonly ErrorObject[]): FieldFault[] {
  const byPointer = new Map<string, ErrorObject>();
  for (const error of errors) {
    const pointer = pointerOf(error);
    if (!byPointer.has(pointer) || TELLING.includes(error.keyword)) byPointer.set(pointer, error);
  }
  return [...byPointer].map(([pointer, error]) => ({ pointer, message: messageOf(error) }));
}

/** The message for an array with more items than it may have. */
export function tooManyItems(maxItems: number): string {
  return `must have at most ${maxItems} items`;
}

function pointerOf({ keyword, instancePath, params }: ErrorObject): string {
  switch (keyword) {
    case 'required':
      return `${instancePath}/${params.missingProperty}`;
    case 'additionalProperties':
      return `${instancePath}/${shortPointerStep(params.additionalProperty)}`;
    default:
      return instancePath;
  }
}

function messageOf({ keyword, params }: ErrorObject): string {
  switch (keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
      return 'is not known here';
    case 'type':
      return `must be ${[params.type].flat().map(typeName).join(' or ')}`;
    case 'enum':
      return `must be one of ${(params.allowedValues as string[]).join(', ')}`;
    case 'format':
      return `must be ${FORMATS[params.format] ?? `a ${params.format}`}`;
    case 'minLength':
      return params.limit === 1
        ? 'must not be empty'
        : `must have at least ${params.limit} characters`;
    case 'maxLength':
      return `must have at most ${params.limit} characters`;
    case 'minItems':
      return `must have at least ${params.limit} item${params.limit === 1 ? '' : 's'}`;
    case 'maxItems':
      return tooManyItems(params.limit);
    case 'uniqueItems':
      return 'must not hold the same value twice';
    case 'minimum':
      return `must be at least ${params.limit}`;
    case 'maximum':
      return `must be at most ${params.limit}`;
    case 'x-decimals':
      return `must have at most ${params.limit} decimals`;
    case 'pattern':
      return PATTERNS[params.pattern] ?? `must match ${params.pattern}`;
    default:
      return `is not valid (${keyword})`;
  }
}

/** A name as a step of a JSON Pointer, cut because the client chose it. */
export function shortPointerStep(name: string): string {
  return pointerStep(name.slice(0, MAX_NAME_LENGTH));
}

function typeName(type: string): string {
  return TYPES[type] ?? type;
}

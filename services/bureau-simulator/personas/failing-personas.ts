/** Personas whose inquiry gives no file. */
import { EQUIFAX, type Persona, TRANSUNION, withoutFile } from './persona.ts';

/** The error to a wrong member number or security code. */
export const BAD_CREDENTIALS = {
  EQUIFAX: { code: 'E0819', description: 'Invalid customer number or security code' },
  /** No error code of TransUnion is publicly known: this one is the simulator's. */
  TRANSUNION: { code: 'A001', description: 'Invalid member code or password' },
};

/** The error to a request that lacks an element. */
export const MISSING_TAG = {
  EQUIFAX: { code: 'E0807', description: 'Missing tag in the request' },
  TRANSUNION: { code: 'R001', description: 'Missing element in the request' },
};

/**
 * After some failures of the connection in a row, callers usually ask a bureau no more for a while. Personas
 * with such failures therefore stand between others.
 */
export const FAILING_PERSONAS: readonly Persona[] = [
  withoutFile(
    {
      firstName: 'Una',
      lastName: 'Unavailable',
      about: 'HTTP status 503, which leaves open whether the bureau made the inquiry',
      outcome: 'unknown',
    },
    { kind: 'http-error', status: 503 },
  ),
  withoutFile(
    {
      sources: EQUIFAX,
      firstName: 'Bea',
      lastName: 'Badlogin',
      about: 'error E0819, as with wrong credentials',
    },
    { kind: 'error', ...BAD_CREDENTIALS.EQUIFAX },
  ),
  withoutFile(
    {
      sources: TRANSUNION,
      firstName: 'Bea',
      lastName: 'Badlogin',
      about: 'error A001, as with wrong credentials',
    },
    { kind: 'error', ...BAD_CREDENTIALS.TRANSUNION },
  ),
  withoutFile(
    {
      firstName: 'Buzz',
      lastName: 'Busy',
      about: 'HTTP status 429: the bureau made no inquiry',
    },
    { kind: 'http-error', status: 429 },
  ),
  withoutFile(
    { sources: EQUIFAX, firstName: 'Tim', lastName: 'Tagless', about: 'error E0807, missing tag' },
    { kind: 'error', ...MISSING_TAG.EQUIFAX, detail: 'Address' },
  ),
  withoutFile(
    { sources: TRANSUNION, firstName: 'Tim', lastName: 'Tagless', about: 'error R001' },
    { kind: 'error', ...MISSING_TAG.TRANSUNION },
  ),
  withoutFile(
    {
      firstName: 'Drew',
      lastName: 'Dropped',
      about: 'the connection is closed once the request was read',
      outcome: 'unknown',
    },
    { kind: 'drop' },
  ),
  withoutFile(
    { firstName: 'Mal', lastName: 'Malformed', about: 'a page that is no XML' },
    { kind: 'malformed' },
  ),
  withoutFile(
    { sources: EQUIFAX, firstName: 'Cy', lastName: 'Badcity', about: 'error EV304, city' },
    { kind: 'error', code: 'EV304', description: 'Invalid city' },
  ),
  withoutFile(
    {
      firstName: 'Otto',
      lastName: 'Oversized',
      about: 'an answer of 64 MiB, which is not read to its end',
      outcome: 'unknown',
    },
    { kind: 'oversized' },
  ),
  withoutFile(
    { firstName: 'Troy', lastName: 'Truncated', about: 'XML that ends too early' },
    { kind: 'truncated' },
  ),
  withoutFile(
    { sources: EQUIFAX, firstName: 'Pru', lastName: 'Badprovince', about: 'error EV305, province' },
    { kind: 'error', code: 'EV305', description: 'Invalid province' },
  ),
  withoutFile(
    {
      firstName: 'Cutter',
      lastName: 'Cutoff',
      about: 'the connection is closed in the middle of the answer',
      outcome: 'unknown',
    },
    { kind: 'cut' },
  ),
  withoutFile(
    { firstName: 'Ben', lastName: 'Bomb', about: 'XML with entities that expand to gigabytes' },
    { kind: 'entity-bomb' },
  ),
  withoutFile(
    {
      firstName: 'Hana',
      lastName: 'Hanging',
      about: 'no answer; the connection stays open',
      outcome: 'unknown',
    },
    { kind: 'hang' },
  ),
];

/** Personas whose answer is whole and has another hit type than HIT. */
import type { CreditFile } from '../credit-file.ts';
import { makeEmptyFile } from './files/file.ts';
import { CONSUMER_STATEMENTS } from './files/sections.ts';
import { BOTH, EQUIFAX, type Persona, withFile } from './persona.ts';

type HitType = NonNullable<CreditFile['hitType']>;

function withHitType(
  hitType: HitType,
  firstName: string,
  lastName: string,
  about: string,
  records: Partial<CreditFile> = {},
): Persona {
  return withFile({ sources: EQUIFAX, firstName, lastName, about, hitType }, (inquiry) => [
    { ...makeEmptyFile(inquiry, hitType), ...records },
  ]);
}

export const OTHER_HIT_TYPES: readonly Persona[] = [
  {
    ...withHitType('NO_HIT', 'Noah', 'Nohit', 'nobody of this name is known'),
    sources: BOTH,
  },
  withHitType('NO_CREDIT_FILE_REQUESTED', 'Nora', 'Norequest', 'the product has no credit file'),
  withHitType('MANUAL_FILE', 'Manny', 'Manual', 'a file that the bureau sends by hand'),
  withHitType('CONSUMER_DECLARATION', 'Dawn', 'Declaration', 'a declaration of the consumer', {
    consumerStatements: CONSUMER_STATEMENTS,
  }),
  withHitType('REFERRED_FILE', 'Rory', 'Referred', 'a file that another office has'),
  withHitType(
    'CONTACT_BUREAU_COLLECTION_DEPARTMENT',
    'Cody',
    'Contact',
    'the bureau asks for a call of its collection department',
  ),
  withHitType('CREDIT_LOCK', 'Lou', 'Locked', 'a file that the consumer has locked'),
];

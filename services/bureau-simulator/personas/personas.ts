/** The personas by name, and who is meant by a name. */
import { FAILING_PERSONAS } from './failing-personas.ts';
import { HIT_PERSONAS } from './hit-personas.ts';
import type { Source } from './inquiry.ts';
import { OTHER_HIT_TYPES } from './other-hit-types.ts';
import type { Persona } from './persona.ts';

/** Every persona, those with a file first. */
export const PERSONAS: readonly Persona[] = [
  ...HIT_PERSONAS,
  ...OTHER_HIT_TYPES,
  ...FAILING_PERSONAS,
];

/** The persona of a name at a bureau, without regard to case and accents; undefined for other names. */
export function findPersona(
  source: Source,
  { firstName, lastName }: { firstName: string; lastName: string },
): Persona | undefined {
  return PERSONAS.find(
    (it) =>
      it.sources.includes(source) &&
      keyOf(it.lastName) === keyOf(lastName) &&
      (it.isByFirstName !== true || keyOf(it.firstName) === keyOf(firstName)),
  );
}

function keyOf(name: string): string {
  const withoutAccents = name.normalize('NFD').replace(/\p{Diacritic}/gu, '');
  return withoutAccents.trim().toLowerCase();
}

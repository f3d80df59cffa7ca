/** The personas by name, and who is meant by a name. */
import { FAILING_PERSONAS } from './failing-personas.ts';
import { makeOrdinaryFile } from './files/ordinary-file.ts';
import { HIT_PERSONAS } from './hit-personas.ts';
import type { Source } from './inquiry.ts';
import { OTHER_HIT_TYPES } from './other-hit-types.ts';
import type { FileBehaviour, Outcome, Persona } from './persona.ts';

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

/** The behaviour to a name that is no persona's. */
export const ORDINARY: FileBehaviour = {
  kind: 'file',
  makeFiles: (inquiry) => [makeOrdinaryFile(inquiry)],
};

/** A persona at one bureau, as a program reads it. */
export interface ListedPersona {
  source: Source;
  firstName: string;
  lastName: string;
  /** null when no file comes. */
  hitType: Persona['hitType'];
  outcome: Outcome;
}

export function listPersonas(): ListedPersona[] {
  return PERSONAS.flatMap(({ sources, firstName, lastName, hitType, outcome }) =>
    sources.map((source) => ({ source, firstName, lastName, hitType, outcome })),
  );
}

function keyOf(name: string): string {
  const withoutAccents = name.normalize('NFD').replace(/\p{Diacritic}/gu, '');
  return withoutAccents.trim().toLowerCase();
}

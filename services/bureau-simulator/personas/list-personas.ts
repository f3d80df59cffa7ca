/** The personas as a program reads them: one entry for each bureau at which a persona is known. */
import type { Source } from './inquiry.ts';
import type { Outcome, Persona } from './persona.ts';
import { PERSONAS } from './personas.ts';

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

import type { History } from './history.ts';

/** What can be wrong with a history; the letters are those of the promises. */
export type Rule =
  /** D1: an accepted write that is not kept, or not told to the receiver. */
  | 'lost'
  /** D2: something kept or told that nobody wrote, or that was refused. */
  | 'phantom'
  /** D3: one write with two effects. */
  | 'duplicated'
  /** D4, D7: decisions or first deliveries in another order than that of the writes. */
  | 'inverted'
  /** D4: numbers that are not 1, 2, 3 … */
  | 'gap'
  /** D5: another body, number or id on a later attempt. */
  | 'changed'
  /** D5: a webhook whose signatures do not verify. */
  | 'forged'
  /** D6: sent again after a success that was recorded, or beyond what a crash excuses. */
  | 'resent'
  /** D7: database, events, API and webhooks that differ. */
  | 'divergent';

export interface Offence {
  rule: Rule;
  what: string;
  /** The lines of the history that show it. */
  lines: object[];
}

/** Finds the offences of one kind in the history of one submission. */
export type Judge = (chapter: History) => Offence[];

/** Makes the offences of one rule. */
export function offenceOf(rule: Rule) {
  return (what: string, ...lines: object[]): Offence => ({ rule, what, lines });
}

/** An offence for those who read the log of a failed run. */
export function describe({ rule, what, lines }: Offence): string {
  return [`${rule}: ${what}`, ...lines.map((line) => `    ${JSON.stringify(line)}`)].join('\n');
}

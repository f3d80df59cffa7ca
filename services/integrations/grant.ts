const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The two sides of an application that an integration may be let in to. */
export type GrantSide = 'retailer' | 'creditor';

/**
 * The id that a grant is asked for, or null when nothing can hold one: an empty id was not asked for,
 * and a text that is no UUID names nobody.
 */
export function askedId(id: string): string | null {
  return UUID.test(id) ? id : null;
}

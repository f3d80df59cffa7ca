/** The two sides of an application that an integration may be let in to. */
export type GrantSide = 'retailer' | 'creditor';

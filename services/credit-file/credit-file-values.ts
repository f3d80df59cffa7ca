/**
 * The values of the credit file's enumerations at run time. They are the keys of the document's words, which the compiler
 * compares with the enumerations of the interface: one value too few or too many is an error.
 */
import type { components } from '@creditlane/client';
import type { CreditFile } from './credit-file.ts';
import { ENGLISH } from './document/words/english.ts';

function valuesOf<T extends string>(words: Record<T, unknown>): ReadonlySet<T> {
  return new Set(Object.keys(words) as T[]);
}

/** Languages and provinces have no words: a document shows the codes of provinces, and no language. */
export const LANGUAGES = valuesOf<NonNullable<CreditFile['language']>>({ EN: 1, FR: 1 });
export const PROVINCES = valuesOf<NonNullable<components['schemas']['Province']>>({
  AB: 1,
  BC: 1,
  MB: 1,
  NB: 1,
  NL: 1,
  NS: 1,
  NT: 1,
  NU: 1,
  ON: 1,
  PE: 1,
  QC: 1,
  SK: 1,
  YT: 1,
});

const { enumerations: VALUES } = ENGLISH;
export const HIT_TYPES = valuesOf(VALUES.hitType);
export const OTHER_NAME_TYPES = valuesOf(VALUES.otherName);
export const BANKRUPTCY_TYPES = valuesOf(VALUES.bankruptcyType);
export const BANKRUPTCY_FILERS = valuesOf(VALUES.filer);
export const BANKRUPTCY_DISPOSITIONS = valuesOf(VALUES.disposition);
export const BANKRUPTCY_NARRATIVES = valuesOf(VALUES.bankruptcyNarrative);
export const COLLECTION_TYPES = valuesOf(VALUES.collectionType);
export const COLLECTION_REASONS = valuesOf(VALUES.collectionReason);
export const COLLECTION_NARRATIVES = valuesOf(VALUES.collectionNarrative);
export const LEGAL_ITEM_TYPES = valuesOf(VALUES.legalItemType);
export const LEGAL_ITEM_STATUSES = valuesOf(VALUES.legalItemStatus);
export const LEGAL_ITEM_NARRATIVES = valuesOf(VALUES.legalItemNarrative);
export const SECURED_LOAN_NARRATIVES = valuesOf(VALUES.securedLoanNarrative);
export const ASSOCIATIONS = valuesOf(VALUES.association);
export const PORTFOLIO_TYPES = valuesOf(VALUES.portfolioType);
export const PAYMENT_RATES = valuesOf(VALUES.paymentRate);
export const TRADE_STATUSES = valuesOf(VALUES.tradeStatus);
export const TRADE_NARRATIVES = valuesOf(VALUES.tradeNarrative);
export const SPECIAL_SERVICE_TYPES = valuesOf(VALUES.specialService);

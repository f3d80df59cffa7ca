/** The words of a document in one language: every label, and every value of the file's enumerations. */
import type { CreditFile, PaymentRate, Trade } from '../../credit-file.ts';
import type { ENGLISH_LABELS, ENGLISH_SECTIONS } from './english-labels.ts';

type ItemOf<List> = NonNullable<List> extends readonly (infer Item)[] ? Item : never;
type Bankruptcy = ItemOf<CreditFile['bankruptcies']>;
type Collection = ItemOf<CreditFile['collections']>;
type LegalItem = ItemOf<CreditFile['legalItems']>;
type SecuredLoan = ItemOf<CreditFile['securedLoans']>;
type OtherName = ItemOf<NonNullable<CreditFile['subject']>['otherNames']>;
type SpecialService = ItemOf<CreditFile['specialServices']>;
/** A word for each value, so that the compiler finds a value without one. */
type WordOfEach<Value> = Record<Extract<Value, string>, string>;

/** The enumerations of a credit file, except provinces, whose codes are what addresses have. */
export interface Enumerations {
  source: WordOfEach<CreditFile['source']>;
  hitType: WordOfEach<CreditFile['hitType']>;
  matched: WordOfEach<CreditFile['matched']>;
  warningSource: WordOfEach<ItemOf<CreditFile['warnings']>['source']>;
  difference: WordOfEach<ItemOf<CreditFile['differences']>>;
  otherName: WordOfEach<OtherName['type']>;
  bankruptcyType: WordOfEach<Bankruptcy['type']>;
  filer: WordOfEach<Bankruptcy['filer']>;
  disposition: WordOfEach<NonNullable<Bankruptcy['disposition']>['type']>;
  bankruptcyNarrative: WordOfEach<ItemOf<Bankruptcy['narratives']>>;
  collectionType: WordOfEach<Collection['type']>;
  collectionReason: WordOfEach<Collection['reason']>;
  collectionNarrative: WordOfEach<ItemOf<Collection['narratives']>>;
  legalItemType: WordOfEach<LegalItem['type']>;
  legalItemStatus: WordOfEach<LegalItem['status']>;
  legalItemNarrative: WordOfEach<ItemOf<LegalItem['narratives']>>;
  securedLoanNarrative: WordOfEach<ItemOf<SecuredLoan['narratives']>>;
  association: WordOfEach<Trade['association']>;
  portfolioType: WordOfEach<Trade['portfolioType']>;
  paymentRate: WordOfEach<PaymentRate>;
  tradeStatus: WordOfEach<Trade['status']>;
  tradeNarrative: WordOfEach<ItemOf<Trade['narratives']>>;
  specialService: WordOfEach<SpecialService['type']>;
}

/** What stands in a document besides the file's own texts and values. */
export interface Words {
  /** BCP 47 tag, for the document's language and for Intl. */
  locale: 'en-CA' | 'fr-CA';
  labels: Labels;
  enumerations: Enumerations;
  /** Sections of a bureau's answer of which the file has the number of entries alone, by the bureau's names of them. */
  sections: Record<keyof typeof ENGLISH_SECTIONS, string>;
  /** The rates in few words, for the chart and the figures. */
  shortPaymentRate: WordOfEach<PaymentRate>;
  pageOf(page: number, pages: number): string;
  /** "ext. 22" after a telephone number. */
  extension(number: string): string;
  /** A code for which the bureau gives no words. */
  code(code: string): string;
  /** A reason for a score of which the bureau gives the number alone. */
  factor(code: string): string;
  /** A score of which the bureau gives the product's number alone. */
  product(code: string): string;
  /** That the file agrees with the applicant but for these differences. */
  partialMatch(differences: string): string;
  /** "3 open" beneath a number of accounts. */
  open(accounts: string): string;
  unpaid(collections: string): string;
  /** Bankruptcies that are neither discharged nor paid. */
  active(bankruptcies: string): string;
  unsettled(legalItems: string): string;
  /** "1 by the consumer" beneath the number of inquiries of creditors. */
  byConsumer(inquiries: string): string;
  /** The inquiries of the year before the file's date. */
  lastTwelveMonths(inquiries: string): string;
  /** The balances and limits of the utilisation: "$1,200 of $5,000". */
  usedOf(balance: string, limits: string): string;
  usDollarAccounts(accounts: string, balance: string): string;
  /** The title of a table's later pages. */
  continued(section: string): string;
}

type Labels = Record<keyof typeof ENGLISH_LABELS, string>;

/** What every bureau's format does: an inquiry becomes one HTTP request, and its answer a credit file. */
import type { CreditFile } from '../credit-file.ts';
import type { SubjectMatch } from './answer/match-subject.ts';
import type { XmlElement } from './answer/xml-document.ts';

export const SOURCES = ['EQUIFAX', 'TRANSUNION'] as const;
export type Source = (typeof SOURCES)[number];

export interface InquiryAddress {
  streetNo: string;
  /** The whole line of the street, or of a post-office box. */
  streetName: string;
  /** Apartment or unit, and a post-office box beside a street; absent or empty without. */
  suite?: string;
  city: string;
  /** A province code such as "ON". */
  province: string;
  postalCode: string;
}

/** Whose credit file a retailer asks for. */
export interface Inquiry {
  /** The bureau returns it with its answer. */
  reference: string;
  subject: {
    firstName: string;
    lastName: string;
    /** Nine digits; absent when unknown. */
    sin?: string;
    /** yyyy-MM-dd. */
    dateOfBirth: string;
    occupation?: string;
    /** The current address first, then former ones. */
    addresses: readonly InquiryAddress[];
  };
}

/** A POST. */
export interface BureauRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/**
 * A code of an answer for which neither the code tables nor the interface have a value, or whose description names another
 * value; one entry for each occurrence.
 */
export interface UnknownCode {
  /** The element of the answer, such as "CNTrade/PaymentRate". */
  section: string;
  /**
   * At most 12 characters, and "(described otherwise)" behind them. In brackets alone, such as "(not a date)", it says what
   * else was left out, whose text may be personal data.
   */
  code: string;
}

/** Why a bureau that has got an inquiry makes no credit file of it. */
export type RefusalReason = 'credentials' | 'rejected' | 'unavailable';

/** One of the errors in a bureau's answer. */
export interface BureauError {
  readonly code: string;
  /** The element of the request that the error is about, where the bureau names it. */
  readonly element?: string;
}

/** How well the person of a file agrees with the one who was asked about. */
export type FileMatch = Exclude<SubjectMatch, { kind: 'OTHER' }>;

export type BureauAnswer =
  | {
      kind: 'file';
      file: CreditFile;
      unknownCodes: readonly UnknownCode[];
      /** Absent of a file that says that nobody was found. */
      match?: FileMatch;
    }
  /** Reports that are all about other persons than the one who was asked about. Nothing of them is kept. */
  | { kind: 'foreign' }
  | {
      kind: 'refused';
      reason: RefusalReason;
      code: string;
      /** All errors of the answer: the first is the one that decides. Absent where the HTTP status alone refuses. */
      errors?: readonly BureauError[];
    }
  /** No answer of the bureau's format: nothing is known about the inquiry. The problem quotes nothing of the answer. */
  | { kind: 'malformed'; problem: string };

/** What the credentials of every bureau have. */
export interface AnyCredentials {
  /** Where inquiries are sent. */
  readonly baseUrl: string;
}

/** The wire format of one bureau. It sends nothing itself. */
export interface BureauFormat<Credentials extends AnyCredentials> {
  readonly source: Source;
  /**
   * The request for an access token (RFC 6749, 4.4), for credentials whose transport needs one; undefined
   * for others. The sender reads the answer, keeps the token, and hands it to `makeRequest`.
   */
  makeTokenRequest(credentials: Credentials): BureauRequest | undefined;
  /** @param token the access token, for a transport that needs one */
  makeRequest(inquiry: Inquiry, credentials: Credentials, token?: string): BureauRequest;
  /**
   * Reads the root element of an answer that is no SOAP fault. An answer for which it throws is malformed (`readAnswer`).
   * @param inquiry what was sent: its file is about this person (`chooseFile`)
   */
  readRoot(root: XmlElement, inquiry: Inquiry): BureauAnswer;
}

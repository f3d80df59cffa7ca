/** What becomes of an inquiry that is sent to a bureau. */
import type { BureauCredentials } from '../bureau-credentials/sealed-credentials.ts';
import type { BureauAnswer, Inquiry } from './bureau.ts';

export type InquiryOutcome =
  | { readonly kind: 'answered'; readonly answer: BureauAnswer }
  /** Not a byte of the inquiry has reached the bureau. */
  | { readonly kind: 'never_sent'; readonly reason: string }
  /** The bureau may have got the inquiry, and no whole answer came. */
  | { readonly kind: 'unknown'; readonly reason: string };

/** Sends an inquiry with the retailer's credentials. Never rejects. */
export type SendInquiry = (
  inquiry: Inquiry,
  credentials: BureauCredentials,
) => Promise<InquiryOutcome>;

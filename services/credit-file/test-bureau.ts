/** A fake of the bureaus: it keeps the inquiries, and answers as a test says. */
import type { BureauCredentials } from './bureau-credentials/sealed-credentials.ts';
import type { BureauAnswer, Inquiry } from './bureaus/bureau.ts';
import type { PendingInquiry } from './bureaus/transport/bureau-client.ts';
import {
  type InquiryOutcome,
  type NeverSentReason,
  neverSent,
  type Withdrawn,
} from './bureaus/transport/inquiry-outcome.ts';
import type { CreditFile } from './credit-file.ts';

/** A file of a bureau, with a social insurance number. */
const FILE: CreditFile = {
  source: 'EQUIFAX',
  id: 'U-4711',
  hitType: 'HIT',
  language: 'EN',
  requestedDate: '2026-04-01',
  subject: { firstName: 'Amélie', lastName: 'Tremblay', sin: '046454286' },
  trades: [{ accountNumber: 'XX-99', balanceAmount: 1200 }],
};

export function answered(answer: BureauAnswer): InquiryOutcome {
  return { kind: 'answered', answer };
}

export function fileAnswer(change: CreditFile = {}): InquiryOutcome {
  return answered({ kind: 'file', file: { ...FILE, ...change }, unknownCodes: [] });
}

export class FakeBureau {
  /** The inquiries that the bureau got, in order. */
  inquiries: { inquiry: Inquiry; credentials: BureauCredentials }[] = [];
  /** Resolves when an inquiry can be sent: with an access token, and a free connection. */
  ready: Promise<void> = Promise.resolve();
  /** Why the next inquiries are not sent, one each: a reason that is known before they are prepared. */
  refusals: NeverSentReason[] = [];
  /** The inquiries that are not ready. */
  waiting = 0;
  /** What becomes of each inquiry. */
  answer: () => Promise<InquiryOutcome> = async () => fileAnswer();
  readonly #releases: (() => void)[] = [];

  reset(): void {
    for (const release of this.#releases.splice(0)) release();
    this.inquiries = [];
    this.ready = Promise.resolve();
    this.refusals = [];
    this.answer = async () => fileAnswer();
  }

  async inquire<Instead>(
    pending: PendingInquiry<Instead>,
    credentials: BureauCredentials,
  ): Promise<InquiryOutcome | Withdrawn<Instead>> {
    this.waiting += 1;
    await this.ready;
    this.waiting -= 1;
    const refusal = this.refusals.shift();
    if (refusal !== undefined) return neverSent(refusal);
    const prepared = await pending.prepare();
    if ('instead' in prepared) return { kind: 'withdrawn', ...prepared };
    this.inquiries.push({ ...prepared, credentials });
    return this.answer();
  }

  /** Keeps answers back until the returned function is called. */
  hold(): () => void {
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const { answer } = this;
    this.answer = () => held.then(answer);
    this.#releases.push(release);
    return release;
  }
}

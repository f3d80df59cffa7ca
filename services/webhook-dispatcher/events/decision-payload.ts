/** The payload of a decision's webhook. The same event always gives the same payload. */
import { PaymentFrequency } from '@creditlane/proto/common/v1/terms';
import type { DecisionRecorded } from '@creditlane/proto/decisions/v1/decisions_events';

// In webhooks of decisions the names have hyphens; in the REST interface they have underscores.
const FREQUENCIES: Readonly<Partial<Record<PaymentFrequency, string>>> = {
  [PaymentFrequency.WEEKLY]: 'WEEKLY',
  [PaymentFrequency.BI_WEEKLY]: 'BI-WEEKLY',
  [PaymentFrequency.SEMI_MONTHLY]: 'SEMI-MONTHLY',
  [PaymentFrequency.MONTHLY]: 'MONTHLY',
};

/** The payload with that `status`; a member without a value is undefined. */
export function decisionPayload(
  recorded: DecisionRecorded,
  status: string,
  hasOffer: boolean,
): object {
  return {
    retailerId: recorded.retailerId,
    status,
    creditorId: recorded.creditorId,
    applicationId: recorded.applicationId,
    conditions: recorded.decision?.conditions,
    ...(hasOffer ? offerOf(recorded) : {}),
  };
}

/** The terms in force after the decision, and their differences from the retailer's worksheet. */
function offerOf({ decision, terms, worksheet }: DecisionRecorded) {
  return {
    firstPaymentDate: terms?.firstPaymentDate || undefined,
    frequency: FREQUENCIES[terms?.frequency ?? PaymentFrequency.UNSPECIFIED],
    interestRate: terms?.interestRate,
    approvedPayment: cad(decision?.paymentAmount),
    rateReduction: difference(worksheet?.interestRate, terms?.interestRate),
    termStretch: difference(terms?.term, worksheet?.term),
    maxPayment: cad(decision?.maxPayment),
  };
}

function cad(amount: number | undefined) {
  return amount === undefined ? undefined : { amount, currency: 'CAD' };
}

/** `minuend - subtrahend` in decimals; `undefined` when either is unknown or there is no difference. */
function difference(
  minuend: number | undefined,
  subtrahend: number | undefined,
): number | undefined {
  if (minuend === undefined || subtrahend === undefined) return undefined;
  // Rates have a few decimals; binary floating point would make 1.2999999999999998 of 6.99 - 5.69.
  const rounded = Number((minuend - subtrahend).toFixed(8));
  return rounded === 0 ? undefined : rounded;
}

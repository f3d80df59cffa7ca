/** Turns a recorded decision into the body of its webhook. The same event always gives the same bytes. */
import { PaymentFrequency } from '@creditlane/proto/common/v1/terms';
import { DecisionValue } from '@creditlane/proto/decisions/v1/decision';
import type { DecisionRecorded } from '@creditlane/proto/decisions/v1/decisions_events';
import { DECISION_EVENTS } from './decision-events.ts';
import { type EventName, WEBHOOK_EVENTS } from './webhook-event-types.ts';

/** What is to be sent for an event, if anything. */
export type Rendering =
  | { readonly kind: 'silent' }
  | { readonly kind: 'sendable'; readonly event: EventName; readonly body: string }
  /** The body breaks the contract: it is kept with the reason and never sent. */
  | {
      readonly kind: 'unfit';
      readonly event: EventName;
      readonly body: string;
      readonly reason: string;
    };

/** An event that cannot mean anything, such as a decision value nobody knows. */
export class UnreadableEvent extends Error {
  override name = 'UnreadableEvent';
  readonly loggable = true;
}

// Receivers of decision events get hyphens; everywhere else the words have underscores.
const FREQUENCIES: Readonly<Partial<Record<PaymentFrequency, string>>> = {
  [PaymentFrequency.WEEKLY]: 'WEEKLY',
  [PaymentFrequency.BI_WEEKLY]: 'BI-WEEKLY',
  [PaymentFrequency.SEMI_MONTHLY]: 'SEMI-MONTHLY',
  [PaymentFrequency.MONTHLY]: 'MONTHLY',
};

/** Renders the webhook of a decision. Throws UnreadableEvent on a decision value it does not know. */
export function render(recorded: DecisionRecorded): Rendering {
  const decision = recorded.decision?.decision ?? DecisionValue.UNSPECIFIED;
  if (!DECISION_EVENTS.has(decision)) throw new UnreadableEvent(`no such decision: ${decision}`);
  const entry = DECISION_EVENTS.get(decision);
  if (entry === undefined) return { kind: 'silent' };

  const payload = {
    retailerId: recorded.retailerId,
    status: entry.status,
    creditorId: recorded.creditorId,
    applicationId: recorded.applicationId,
    conditions: recorded.decision?.conditions,
    ...(entry.offer ? offerOf(recorded) : {}),
  };
  const body = JSON.stringify(payload);
  const { isValid } = WEBHOOK_EVENTS[entry.event];
  // What counts is what the receiver parses, so members without a value are gone before the check.
  if (isValid(JSON.parse(body))) return { kind: 'sendable', event: entry.event, body };
  return { kind: 'unfit', event: entry.event, body, reason: faultsOf(isValid.errors) };
}

/** The terms that hold after the decision, and what of them differs from the retailer's worksheet. */
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

/** `from - subtrahend` in decimals, absent when a side is unknown or there is no difference. */
function difference(from: number | undefined, subtrahend: number | undefined): number | undefined {
  if (from === undefined || subtrahend === undefined) return undefined;
  // Rates have a few decimals; binary floating point would make 1.2999999999999998 of 6.99 - 5.69.
  const rounded = Number((from - subtrahend).toFixed(8));
  return rounded === 0 ? undefined : rounded;
}

function faultsOf(errors: (typeof WEBHOOK_EVENTS)[EventName]['isValid']['errors']): string {
  const faults = (errors ?? []).map((error) => `${error.instancePath} ${error.message}`.trim());
  return `payload_unfit: ${faults.join('; ')}`;
}

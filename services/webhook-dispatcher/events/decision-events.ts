/** Which decision makes which webhook event. */
import { DecisionValue } from '@creditlane/proto/decisions/v1/decision';
import type { EventName } from './webhook-event-types.ts';

/** The event of a decision: its name, its one `status`, and whether it carries the offer's terms. */
export interface DecisionEvent {
  readonly event: EventName;
  readonly status: string;
  readonly offer: boolean;
}

const documentsIncomplete: DecisionEvent = {
  event: 'documentsIncomplete',
  status: 'INCOMPLETE',
  offer: true,
};

/** `undefined`: nobody is told. A value that is not in the table at all is a fault of the event. */
export const DECISION_EVENTS: ReadonlyMap<DecisionValue, DecisionEvent | undefined> = new Map([
  [DecisionValue.BOOKED, { event: 'applicationBooked', status: 'BOOKED', offer: false }],
  [DecisionValue.APPROVED, { event: 'applicationApproved', status: 'APPROVED', offer: true }],
  [
    DecisionValue.CONDITIONALLY_APPROVED,
    {
      event: 'applicationConditionallyApproved',
      status: 'CONDITIONALLY_APPROVED',
      offer: true,
    },
  ],
  [DecisionValue.DECLINED, { event: 'applicationDeclined', status: 'DECLINED', offer: false }],
  [DecisionValue.INCOMPLETE, documentsIncomplete],
  [DecisionValue.DOCUMENTS_INCOMPLETE, documentsIncomplete],
  [
    DecisionValue.PENDING_BANK_CONNECTION,
    { event: 'pendingBanking', status: 'PENDING_BANK_CONNECTION', offer: false },
  ],
  [
    DecisionValue.AWAITING_DECISION,
    { event: 'awaitingDecision', status: 'AWAITING_DECISION', offer: false },
  ],
  [DecisionValue.WITHDRAWN, undefined],
  [DecisionValue.DRAFT, undefined],
]);

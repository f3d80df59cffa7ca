/** The seven webhook event types that are made from recorded decisions. */
import { DecisionValue } from '@creditlane/proto/decisions/v1/decision';
import type { DecisionRecorded } from '@creditlane/proto/decisions/v1/decisions_events';
import type { AnySchema } from 'ajv';
import { createSchemaCompiler } from './body-schema.ts';
import { decisionPayload } from './decision-payload.ts';
import applicationApproved from './schemas/application-approved.json' with { type: 'json' };
import applicationBooked from './schemas/application-booked.json' with { type: 'json' };
import applicationConditionallyApproved from './schemas/application-conditionally-approved.json' with {
  type: 'json',
};
import applicationDeclined from './schemas/application-declined.json' with { type: 'json' };
import awaitingDecision from './schemas/awaiting-decision.json' with { type: 'json' };
import decision from './schemas/decision.json' with { type: 'json' };
import documentsIncomplete from './schemas/documents-incomplete.json' with { type: 'json' };
import offer from './schemas/offer.json' with { type: 'json' };
import pendingBanking from './schemas/pending-banking.json' with { type: 'json' };
import {
  type GrantQuery,
  occurredAt,
  type RecipientLookup,
  requireIds,
  UnreadableEventError,
  type WebhookEventType,
  type WebhookSource,
} from './webhook-event-type.ts';

/** One of the seven event types: the properties in which they differ. */
interface DecisionEvent {
  /** The decision values that the webhook reports. */
  readonly decisions: readonly DecisionValue[];
  readonly name: string;
  readonly path: string;
  /** The one value of `status` in the body. */
  readonly status: string;
  /** Whether the body has the offer's terms. */
  readonly hasOffer: boolean;
  readonly schema: AnySchema;
}

const DECISION_EVENTS: readonly DecisionEvent[] = [
  {
    decisions: [DecisionValue.BOOKED],
    name: 'applicationBooked',
    path: '/application-booked',
    status: 'BOOKED',
    hasOffer: false,
    schema: applicationBooked,
  },
  {
    decisions: [DecisionValue.APPROVED],
    name: 'applicationApproved',
    path: '/application-approved',
    status: 'APPROVED',
    hasOffer: true,
    schema: applicationApproved,
  },
  {
    decisions: [DecisionValue.CONDITIONALLY_APPROVED],
    name: 'applicationConditionallyApproved',
    path: '/application-conditionally-approved',
    status: 'CONDITIONALLY_APPROVED',
    hasOffer: true,
    schema: applicationConditionallyApproved,
  },
  {
    decisions: [DecisionValue.INCOMPLETE, DecisionValue.DOCUMENTS_INCOMPLETE],
    name: 'documentsIncomplete',
    path: '/documents-incomplete',
    status: 'INCOMPLETE',
    hasOffer: true,
    schema: documentsIncomplete,
  },
  {
    decisions: [DecisionValue.AWAITING_DECISION],
    name: 'awaitingDecision',
    path: '/awaiting-decision',
    status: 'AWAITING_DECISION',
    hasOffer: false,
    schema: awaitingDecision,
  },
  {
    decisions: [DecisionValue.PENDING_BANK_CONNECTION],
    name: 'pendingBanking',
    path: '/pending-banking',
    status: 'PENDING_BANK_CONNECTION',
    hasOffer: false,
    schema: pendingBanking,
  },
  {
    decisions: [DecisionValue.DECLINED],
    name: 'applicationDeclined',
    path: '/application-declined',
    status: 'DECLINED',
    hasOffer: false,
    schema: applicationDeclined,
  },
];

/** Decision values that have no webhook. */
const WITHOUT_WEBHOOK: readonly DecisionValue[] = [DecisionValue.WITHDRAWN, DecisionValue.DRAFT];

const compile = createSchemaCompiler([decision, offer]);

/** Webhooks of decisions: in order per application, numbered per application and creditor. */
export function decisionSource(
  granted: RecipientLookup<GrantQuery>,
): WebhookSource<DecisionRecorded> {
  const eventTypes = new Map<DecisionValue, WebhookEventType<DecisionRecorded> | undefined>(
    WITHOUT_WEBHOOK.map((value) => [value, undefined]),
  );
  for (const event of DECISION_EVENTS) {
    const eventType = decisionEventType(event, granted);
    for (const value of event.decisions) eventTypes.set(value, eventType);
  }
  return {
    topic: 'creditlane.decisions.v1',
    busEventType: 'creditlane.decisions.v1.DecisionRecorded',
    eventTypes: [...new Set(eventTypes.values())].filter((eventType) => eventType !== undefined),
    eventTypeOf({ applicationId, creditorId, retailerId, decision: recorded }) {
      requireIds('decision', applicationId, creditorId, retailerId);
      const value = recorded?.decision ?? DecisionValue.UNSPECIFIED;
      if (!eventTypes.has(value)) throw new UnreadableEventError(`no such decision: ${value}`);
      return eventTypes.get(value);
    },
    recordedAt: ({ recordedAt }) => occurredAt(recordedAt),
    seriesPosition: ({ applicationId, creditorId, sequence }) => ({
      orderingKey: applicationId,
      numberingKey: creditorId,
      sequence: Number(sequence),
    }),
  };
}

function decisionEventType(
  { name, path, status, hasOffer, schema }: DecisionEvent,
  granted: RecipientLookup<GrantQuery>,
): WebhookEventType<DecisionRecorded, GrantQuery> {
  return {
    name,
    path,
    signatureHeader: 'X-SERVICE-SIGNATURE',
    renderBody: compile(schema),
    orderedBy: 'application',
    orderingKey: ({ applicationId }) => applicationId,
    numberingKey: ({ creditorId }) => creditorId,
    recipientLookup: granted,
    recipientQuery: ({ retailerId, creditorId }) => ({ retailerId, creditorId }),
    rendering: { at: 'intake', payload: (event) => decisionPayload(event, status, hasOffer) },
  };
}

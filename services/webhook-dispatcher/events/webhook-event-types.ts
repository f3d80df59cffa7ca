/** The webhook events: where each is posted, which header signs it, and what its body must look like. */
import type { AnySchema } from 'ajv';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
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

/** One kind of webhook as its receivers know it. */
export interface WebhookEvent {
  /** Appended to the destination's URL. */
  readonly address: string;
  readonly signatureHeader: string;
  /** Says whether a body is what the contract promises; its `errors` say what is not. */
  readonly isValid: ValidateFunction;
}

const ajv = new Ajv2020({ schemas: [decision, offer], strict: true, strictRequired: false });
addFormats.default(ajv, ['uuid', 'date']);

function decisionEvent(address: string, schema: AnySchema): WebhookEvent {
  return { address, signatureHeader: 'X-SERVICE-SIGNATURE', isValid: ajv.compile(schema) };
}

const EVENTS = {
  applicationBooked: decisionEvent('/application-booked', applicationBooked),
  applicationApproved: decisionEvent('/application-approved', applicationApproved),
  applicationConditionallyApproved: decisionEvent(
    '/application-conditionally-approved',
    applicationConditionallyApproved,
  ),
  documentsIncomplete: decisionEvent('/documents-incomplete', documentsIncomplete),
  awaitingDecision: decisionEvent('/awaiting-decision', awaitingDecision),
  pendingBanking: decisionEvent('/pending-banking', pendingBanking),
  applicationDeclined: decisionEvent('/application-declined', applicationDeclined),
} satisfies Record<string, WebhookEvent>;

/** The name of a webhook event, as in the interface's list of events. */
export type EventName = keyof typeof EVENTS;

export const WEBHOOK_EVENTS: Readonly<Record<EventName, WebhookEvent>> = EVENTS;

/** Narrows a name read from the database, which a newer version may have written. */
export function isEventName(name: string): name is EventName {
  return Object.hasOwn(EVENTS, name);
}

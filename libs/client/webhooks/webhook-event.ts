/** The events that Creditlane posts to a webhook destination, as the OpenAPI document describes them. */
import type { webhooks } from '../gen/openapi.ts';
import { WEBHOOKS } from '../gen/tables.ts';

export type WebhookName = keyof webhooks;

type Payload<Name extends WebhookName> =
  webhooks[Name]['post']['requestBody']['content']['application/json'];

interface EventOf<Type extends string, Body> {
  type: Type;
  payload: Body;
  /**
   * The `webhook-id`, the same on every attempt: pass over an event whose id you have. With the scheme `hex` no
   * signature covers it, so a captured webhook may come again with another id.
   */
  id: string | undefined;
  /** When this attempt was made. With the scheme `hex` no signature covers it. */
  sentAt: Date | undefined;
  /**
   * 1, 2, 3 … for each application, creditor and destination. No signature covers this header, so it may order
   * events but not authorise anything.
   */
  sequence: number | undefined;
  /**
   * Whether this is a test event, whose payload is the documentation's example: record nothing of it. No signature
   * covers the header that says so.
   */
  isTest: boolean;
}

/** A verified webhook. `unknown` is an event that Creditlane has introduced after this version of the client. */
export type WebhookEvent =
  | { [Name in WebhookName]: EventOf<Name, Payload<Name>> }[WebhookName]
  | EventOf<'unknown', unknown>;

/** What tells a payload from those of the other events: its status, or else the fields that it must have. */
interface WebhookEntry {
  readonly signatureHeader: string;
  readonly status?: string;
  readonly required?: readonly string[];
}

const ENTRIES = Object.entries(WEBHOOKS) as [WebhookName, WebhookEntry][];

/**
 * The event of a payload. The payload decides, because the path of the request is not signed: a captured
 * webhook could be posted again to the path of another event.
 */
export function nameOfPayload(payload: unknown): WebhookName | undefined {
  if (typeof payload !== 'object' || payload === null) return undefined;
  const { status } = payload as { status?: unknown };
  const found = ENTRIES.find(([, entry]) =>
    entry.status === undefined
      ? status === undefined && entry.required?.every((field) => field in payload)
      : entry.status === status,
  );
  return found?.[0];
}

/** The header that holds the event's hex signature. */
export function signatureHeaderOf(name: WebhookName): string {
  return WEBHOOKS[name].signatureHeader;
}

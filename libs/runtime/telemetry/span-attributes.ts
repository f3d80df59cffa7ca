/**
 * All that a span may tell, by OpenTelemetry's names where it has them: ids, templates, outcomes. No
 * address, body, name or key of anybody has a place here.
 */
const ATTRIBUTES = [
  'creditlane.application.id',
  'creditlane.creditor.id',
  'creditlane.delivery.id',
  'creditlane.request.id',
  'creditlane.webhook.attempt',
  'creditlane.webhook.event',
  'error.type',
  'http.request.method',
  'http.response.status_code',
  'http.route',
  'messaging.consumer.group.name',
  'messaging.destination.name',
  'messaging.message.id',
  'rpc.method',
  'rpc.service',
] as const;

export type SpanAttributes = Partial<
  Record<(typeof ATTRIBUTES)[number], string | number | undefined>
>;

/** Types end where JavaScript startsTrace: what is not on the list stays out, whoever hands it in. */
export function pickAllowedAttributes(
  attributes: SpanAttributes = {},
): Record<string, string | number> {
  const picked: Record<string, string | number> = {};
  for (const name of ATTRIBUTES) {
    const value = attributes[name];
    if (value !== undefined) picked[name] = value;
  }
  return picked;
}

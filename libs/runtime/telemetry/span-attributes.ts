/**
 * The allow-list of span attributes, under OpenTelemetry's names where it has one: ids, templates and
 * outcomes. Addresses, bodies, names and keys never belong in a trace.
 */
const ATTRIBUTES = [
  'creditlane.application.id',
  'creditlane.creditor.id',
  'creditlane.delivery.id',
  'creditlane.pull.id',
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

/** The attributes that are on the allow-list: the type alone does not stop others at run time. */
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

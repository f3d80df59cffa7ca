/** The event filter of a destination in answers. */

/** A message has an empty list where the destination has no filter and gets all webhooks; answers then have no list. */
export function withoutEmptyFilter<Destination extends { events: string[] }>(
  destination: Destination,
) {
  const { events, ...others } = destination;
  return { ...others, events: events.length > 0 ? events : undefined };
}

/**
 * The marker of a decision, which identifies it in the API, the database, the events and the webhooks:
 * the conditions it was recorded with. The decision made by a submission has no conditions.
 */
export function markerOf(applicationId: string, conditions: string | null | undefined): string {
  return conditions || `submission of ${applicationId}`;
}

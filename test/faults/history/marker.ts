/**
 * The mark of a decision: the conditions it was written with. A submission's first decision, which
 * nobody writes, has none.
 */
export function markOf(applicationId: string, conditions: string | null | undefined): string {
  return conditions || `submission of ${applicationId}`;
}

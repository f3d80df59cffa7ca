/** Where a score stands on the range of Canadian credit scores. */
export const LOWEST_SCORE = 300;
export const HIGHEST_SCORE = 900;

/** From 0 for the lowest score to 1 for the highest; undefined outside of the range. */
export function positionOnScale(score: number): number | undefined {
  if (score < LOWEST_SCORE || score > HIGHEST_SCORE) return undefined;
  return (score - LOWEST_SCORE) / (HIGHEST_SCORE - LOWEST_SCORE);
}

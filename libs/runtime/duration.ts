/** A time span as an operator writes it. */
export type Duration = `${number}${keyof typeof UNITS_MS}`;

const UNITS_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The milliseconds of a time span such as `250ms`, `5s`, `10m`, `24h` or `7d`; NaN for other text. */
export function parseDurationMs(text: string): number {
  const [, amount, unit] = /^(\d{1,12})(ms|s|m|h|d)$/.exec(text) ?? [];
  return Number(amount) * (UNITS_MS[unit as keyof typeof UNITS_MS] ?? 1);
}

/** A time span in the largest unit that divides it: 7,200,000 is `2h`. */
export function formatDurationMs(durationMs: number): Duration {
  const units = Object.entries(UNITS_MS).reverse() as [keyof typeof UNITS_MS, number][];
  const [unit, unitMs] = units.find(([, unitMs]) => durationMs % unitMs === 0) ?? ['ms', 1];
  return `${durationMs / unitMs}${unit}`;
}

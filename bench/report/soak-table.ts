/** The table of memory under a lasting load. */
import type { SoakResults } from '../measurements/soak.ts';
import type { RunMode } from '../platform/run-mode.ts';
import { formatColumns, formatMebibytes, formatNumber } from './columns.ts';

/** The size of V8's smallest object: a leak of one object per delivery exceeds it. */
const HEAP_TARGET = '≤ 16 B';
const RESIDENT_TARGET = '≤ 5 %';

/** The memory of each process by period, and its growth in the second half of the periods. */
export function soakTable(
  runMode: RunMode,
  { perSecond, periodMs, periods, growth }: SoakResults,
): string[] {
  const names = Object.keys(growth);
  const head = names.flatMap((name) => [`${name}: heap`, 'resident']);
  const rows = periods.map((memory, index) => [
    `after ${((index + 1) * periodMs) / 1_000} s`,
    ...names.flatMap((name) => {
      const { heapBytes, residentBytes } = memory[name] ?? {};
      return [heapBytes, residentBytes].map((it) => (it === undefined ? '' : formatMebibytes(it)));
    }),
  ]);
  const grown = Object.values(growth).flatMap(({ heapBytesPerDelivery, residentShare }) => [
    `${formatNumber(heapBytesPerDelivery)} B`,
    `${formatNumber(residentShare * 100)} %`,
  ]);
  const targets = names.flatMap(() => [HEAP_TARGET, RESIDENT_TARGET]);
  const title = `${runMode}, ${formatNumber(perSecond)} deliveries/s`;
  return formatColumns([
    [title, ...head],
    ...rows,
    ['growth: heap per delivery, resident', ...grown],
    ['target', ...targets],
  ]);
}

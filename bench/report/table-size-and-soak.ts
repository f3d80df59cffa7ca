/** The tables of two long-term effects: large tables, and memory under a lasting load. */
import type { SoakResults } from '../measurements/soak.ts';
import type { Comparison, TableSizeResults } from '../measurements/table-size.ts';
import type { RunMode } from '../platform/run-mode.ts';
import { formatColumns, formatMebibytes, formatNumber, NOT_MEASURED } from './columns.ts';

const SHARE_TARGET = '≥ 90 %';
/** The size of V8's smallest object: a leak of one object per delivery exceeds it. */
const HEAP_TARGET = '≤ 16 B';
const RESIDENT_TARGET = '≤ 5 %';

/** The rates and CPU times without and with past decisions in the tables. */
export function tableSizeTable({ decisions, writes, deliveries }: TableSizeResults): string[] {
  const rowsOf = (label: string, cpuLabel: string, comparison: Comparison) => {
    const platforms = [comparison.new, comparison.old];
    const rates = platforms.map((turns) => `${mean(turns.map((it) => it.perSecond))}/s`);
    const cpuTimes = platforms.map((turns) => `${mean(turns.flatMap((it) => it.cpuMs ?? []))} ms`);
    const share = `${formatNumber(comparison.share * 100)} %`;
    return [
      [label, ...rates, share, SHARE_TARGET],
      [cpuLabel, ...cpuTimes],
    ];
  };
  const withPast = `with ${decisions.toLocaleString('en')}`;
  return formatColumns([
    ['past decisions in the tables', 'without', withPast, 'share', 'target'],
    ...rowsOf('gateway: decisions recorded', '  CPU time per decision', writes),
    ...rowsOf('request → delivered webhook', '  CPU time per delivery', deliveries),
  ]);
}

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

function mean(values: readonly number[]): string {
  if (values.length === 0) return NOT_MEASURED;
  return formatNumber(values.reduce((sum, value) => sum + value, 0) / values.length);
}

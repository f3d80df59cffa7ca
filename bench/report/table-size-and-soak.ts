/** What becomes of the figures in the course of time: with a long past, and under a lasting load. */

import { readable } from '../load/latency.ts';
import type { Soak } from '../measurements/soak.ts';
import type { Burden, Turns } from '../measurements/table-size.ts';
import type { Shape } from '../platform/run-mode.ts';
import { aligned } from './columns.ts';

const SHARE_TARGET = '≥ 90 %';
/** No object of V8's is smaller. */
const HEAP_TARGET = '≤ 16 B';
const RESIDENT_TARGET = '≤ 5 %';

/** What a platform does that has decided so often, beside a new one. */
export function burdenOf({ decisions, writes, deliveries }: Burden): string[] {
  const past = `with ${decisions.toLocaleString('en')}`;
  const rowsOf = (what: string, { new: without, old, share }: Turns) => {
    const rates = [without, old].map((turns) => `${mean(turns.map((it) => it.perSecond))}/s`);
    const costs = [without, old].map((turns) => {
      return `${mean(turns.flatMap(({ cpuMs }) => cpuMs ?? []))} ms`;
    });
    return [
      [what, ...rates, `${readable(share * 100)} %`, SHARE_TARGET],
      ['  CPU each', ...costs],
    ];
  };
  return aligned([
    ['decisions in the tables', 'without', past, 'share', 'target'],
    ...rowsOf('decisions through the gateway', writes),
    ...rowsOf('request → delivered webhook', deliveries),
  ]);
}

/** How memory went, period by period, and what the second half made of it. */
export function soakOf(shape: Shape, { perSecond, periodMs, periods, growth }: Soak): string[] {
  const names = Object.keys(growth);
  const head = names.flatMap((name) => [`${name}: heap`, 'resident']);
  const rows = periods.map((memory, at) => [
    `after ${((at + 1) * periodMs) / 1_000} s`,
    ...names.flatMap((name) => [
      mebibytes(memory[name]?.heapBytes),
      mebibytes(memory[name]?.residentBytes),
    ]),
  ]);
  const grown = Object.values(growth).flatMap(({ heapBytesPerDelivery, residentShare }) => [
    `${readable(heapBytesPerDelivery)} B`,
    `${readable(residentShare * 100)} %`,
  ]);
  const targets = names.flatMap(() => [HEAP_TARGET, RESIDENT_TARGET]);
  const title = `${shape}, ${readable(perSecond)} deliveries/s`;
  const last = [
    ['growth, by delivery', ...grown],
    ['target', ...targets],
  ];
  return aligned([[title, ...head], ...rows, ...last]);
}

function mean(values: readonly number[]): string {
  if (values.length === 0) return '–';
  return readable(values.reduce((sum, value) => sum + value, 0) / values.length);
}

function mebibytes(bytes: number | undefined): string {
  return bytes === undefined ? '' : `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

/** The figures of a platform's shapes, each beside its target. */
import { readable } from '../load/latency.ts';
import type { Results } from '../measurements/throughput.ts';
import type { Shape } from '../platform/run-mode.ts';
import { aligned } from './columns.ts';

interface Row {
  what: string;
  figure: (results: Results) => string;
  /** What each shape is to reach. */
  targets?: Record<Shape, string>;
}

const NOT_MEASURED = '–';

const ms = (value: number | undefined) =>
  value === undefined ? NOT_MEASURED : `${readable(value)} ms`;
const rate = (perSecond: number | undefined) =>
  perSecond === undefined ? NOT_MEASURED : `${readable(perSecond)}/s`;
const targets = (ofOne: string, ofProcesses: string) => ({
  'one process': ofOne,
  processes: ofProcesses,
});

const ROWS: Row[] = [
  { what: 'limit: the write through pg', figure: ({ limit }) => rate(limit.best.perSecond) },
  {
    what: 'decisions through the gateway',
    figure: ({ writes }) => rate(writes.best.perSecond),
  },
  {
    what: '  as a share of the limit',
    figure: ({ writes }) => `${readable(writes.shareOfLimit * 100)} %`,
    targets: targets('≥ 50 %', '≥ 30 %'),
  },
  { what: '  CPU each', figure: ({ writes }) => ms(writes.cost?.cpuMs) },
  { what: '  at half of it', figure: ({ writesAtHalfLoad: half }) => rate(half.perSecond) },
  { what: '    p50', figure: ({ writesAtHalfLoad: half }) => ms(half.latencyMs.p50) },
  { what: '    p99', figure: ({ writesAtHalfLoad: half }) => ms(half.latencyMs.p99) },
  {
    what: 'request → delivered webhook',
    figure: ({ deliveries }) => rate(deliveries.best.perSecond),
    targets: targets('≥ 3,200/s', '≥ 2,400/s'),
  },
  {
    what: '  CPU each',
    figure: ({ deliveries }) => ms(deliveries.cost?.cpuMs),
    targets: targets('≤ 0.5 ms', '≤ 0.7 ms'),
  },
  { what: '  at half of it', figure: ({ deliveriesAtHalfLoad: half }) => rate(half.perSecond) },
  {
    what: '    request → first byte: p50',
    figure: ({ deliveriesAtHalfLoad: half }) => ms(half.latencyMs.p50),
    targets: targets('≤ 3 ms', '≤ 10 ms'),
  },
  {
    what: '    request → first byte: p99',
    figure: ({ deliveriesAtHalfLoad: half }) => ms(half.latencyMs.p99),
    targets: targets('≤ 12 ms', '≤ 30 ms'),
  },
  {
    what: '    commit → first byte: p50',
    figure: ({ deliveriesAtHalfLoad: half }) => ms(half.sinceCommitMs.p50),
  },
  {
    what: '    commit → first byte: p99',
    figure: ({ deliveriesAtHalfLoad: half }) => ms(half.sinceCommitMs.p99),
  },
  {
    what: '    the generator late by, p99',
    figure: ({ deliveriesAtHalfLoad: half }) => ms(half.lateMs.p99),
  },
  {
    what: 'delivered from a backlog',
    figure: ({ backlog }) => rate(backlog.perSecond),
    targets: targets('≥ 6,500/s', '≥ 6,500/s'),
  },
  { what: '  CPU each', figure: ({ backlog }) => ms(backlog.cost?.cpuMs) },
  {
    what: 'the relay alone, to Kafka',
    figure: ({ stages }) => rate(stages?.relayPerSecond),
    targets: targets('', '≥ 5,000/s'),
  },
  {
    what: 'the dispatcher alone, from Kafka',
    figure: ({ stages }) => rate(stages?.dispatcherPerSecond),
  },
];

export interface Measured {
  shape: Shape;
  results: Results;
}

/** The table: a column of figures for each shape, and their targets next to it. */
export function figuresOf(measured: readonly Measured[]): string[] {
  const head = ['', ...measured.flatMap(({ shape }) => [shape, 'target'])];
  const rows = ROWS.map(({ what, figure, targets: wanted }) => [
    what,
    ...measured.flatMap(({ shape, results }) => [figure(results), wanted?.[shape] ?? '']),
  ]);
  return aligned([head, ...rows]);
}

/** What a delivery's CPU time was spent on. */
export function costsOf({ shape, results }: Measured): string[] {
  const { cost } = results.deliveries;
  if (cost === undefined) return [];
  const each = Object.entries(cost.byProcess).map(([name, cpuMs]) => `${name} ${ms(cpuMs)}`);
  return [`CPU of a delivery, ${shape}: ${each.join(', ')}`];
}

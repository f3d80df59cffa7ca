/** The table of rates, latencies and CPU times: one column per run mode, with the targets beside it. */
import type { ThroughputResults } from '../measurements/throughput.ts';
import type { RunMode } from '../platform/run-mode.ts';
import { formatColumns, formatMs, formatNumber, NOT_MEASURED } from './columns.ts';

interface Row {
  label: string;
  value: (results: ThroughputResults) => string;
  targets?: Record<RunMode, string>;
}

const rate = (perSecond: number | undefined) =>
  perSecond === undefined ? NOT_MEASURED : `${formatNumber(perSecond)}/s`;
const targets = (oneProcess: string, processes: string) => ({
  'one process': oneProcess,
  processes,
});

const ROWS: Row[] = [
  {
    label: 'PostgreSQL alone: decisions recorded (the limit)',
    value: ({ limit }) => rate(limit.best.perSecond),
  },
  {
    label: 'gateway: decisions recorded',
    value: ({ writes }) => rate(writes.best.perSecond),
  },
  {
    label: '  as a share of the limit',
    value: ({ writes }) => `${formatNumber(writes.shareOfLimit * 100)} %`,
    targets: targets('≥ 75 %', '≥ 35 %'),
  },
  { label: '  CPU time per decision', value: ({ writes }) => formatMs(writes.cost?.cpuMs) },
  { label: '  at half of that rate', value: ({ writesAtHalfLoad: half }) => rate(half.perSecond) },
  {
    label: '    request → answer: p50',
    value: ({ writesAtHalfLoad: half }) => formatMs(half.latencyMs.p50),
  },
  {
    label: '    request → answer: p99',
    value: ({ writesAtHalfLoad: half }) => formatMs(half.latencyMs.p99),
  },
  {
    label: 'request → delivered webhook',
    value: ({ deliveries }) => rate(deliveries.best.perSecond),
    targets: targets('≥ 4,000/s', '≥ 3,000/s'),
  },
  {
    label: '  CPU time per delivery',
    value: ({ deliveries }) => formatMs(deliveries.cost?.cpuMs),
    targets: targets('≤ 0.4 ms', '≤ 0.7 ms'),
  },
  {
    label: '  at half of that rate',
    value: ({ deliveriesAtHalfLoad: half }) => rate(half.perSecond),
  },
  {
    label: '    request → first byte: p50',
    value: ({ deliveriesAtHalfLoad: half }) => formatMs(half.latencyMs.p50),
    targets: targets('≤ 6 ms', '≤ 15 ms'),
  },
  {
    label: '    request → first byte: p99',
    value: ({ deliveriesAtHalfLoad: half }) => formatMs(half.latencyMs.p99),
    targets: targets('≤ 25 ms', '≤ 50 ms'),
  },
  {
    label: '    commit → first byte: p50',
    value: ({ deliveriesAtHalfLoad: half }) => formatMs(half.sinceCommitMs.p50),
  },
  {
    label: '    commit → first byte: p99',
    value: ({ deliveriesAtHalfLoad: half }) => formatMs(half.sinceCommitMs.p99),
  },
  {
    label: '    delay of the load generator: p99',
    value: ({ deliveriesAtHalfLoad: half }) => formatMs(half.lateMs.p99),
  },
  {
    label: 'webhooks delivered from a backlog',
    value: ({ backlog }) => rate(backlog.perSecond),
    targets: targets('≥ 11,000/s', '≥ 9,000/s'),
  },
  { label: '  CPU time per delivery', value: ({ backlog }) => formatMs(backlog.cost?.cpuMs) },
  {
    label: 'relay alone: outbox → Kafka',
    value: ({ stages }) => rate(stages?.relayPerSecond),
    targets: targets('', '≥ 5,000/s'),
  },
  {
    label: 'dispatcher alone: Kafka → receiver',
    value: ({ stages }) => rate(stages?.dispatcherPerSecond),
  },
];

export interface MeasuredRunMode {
  runMode: RunMode;
  results: ThroughputResults;
}

/** The table with a column for each run mode, and a column of targets next to it. */
export function throughputTable(measured: readonly MeasuredRunMode[]): string[] {
  const head = ['', ...measured.flatMap(({ runMode }) => [runMode, 'target'])];
  const rows = ROWS.map((row) => [
    row.label,
    ...measured.flatMap(({ runMode, results }) => [
      row.value(results),
      row.targets?.[runMode] ?? '',
    ]),
  ]);
  return formatColumns([head, ...rows]);
}

/** One line: the CPU time per delivery of each process. No line where CPU time cannot be read. */
export function cpuLine({ runMode, results }: MeasuredRunMode): string[] {
  const { cost } = results.deliveries;
  if (cost === undefined) return [];
  const times = Object.entries(cost.byProcess).map(([name, cpuMs]) => `${name} ${formatMs(cpuMs)}`);
  return [`CPU time per delivery, ${runMode}: ${times.join(', ')}`];
}

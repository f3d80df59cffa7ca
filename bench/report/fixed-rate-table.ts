/** The table of fixed rates: latency and CPU time of each rate in one run mode, with the targets beside them. */
import type { FixedRateResults, MeasuredStage } from '../measurements/fixed-rates.ts';
import type { RateStage } from '../plan.ts';
import type { RunMode } from '../platform/run-mode.ts';
import { formatColumns, formatMs, formatNumber, NOT_MEASURED } from './columns.ts';

/** In milliseconds. */
interface StageTargets {
  p50: number;
  p99: number;
  cpu?: number;
}

const IDLE_TARGET: Partial<Record<RunMode, string>> = { 'one process': '≤ 0.5 %' };

/** By rate and number of applications. */
const TARGETS: Record<RunMode, Record<string, StageTargets>> = {
  'one process': {
    '50 256': { p50: 3, p99: 7, cpu: 3 },
    '700 256': { p50: 2.5, p99: 11, cpu: 1.2 },
    '1200 256': { p50: 8, p99: 40, cpu: 0.8 },
    '1200 64': { p50: 12, p99: 60 },
  },
  processes: { '500 256': { p50: 8, p99: 30 } },
};

const HEAD = ['request → first byte', 'p50', 'target', 'p99', 'target', 'CPU', 'target'];

const atMost = (value: number | undefined) => (value === undefined ? '' : `≤ ${value} ms`);
const labelOf = ({ perSecond, applications }: RateStage) =>
  `${formatNumber(perSecond)}/s to ${applications} applications`;

export function fixedRateTable(runMode: RunMode, results: FixedRateResults): string[] {
  const rows = results.stages.map((stage) => stageRow(stage, TARGETS[runMode]));
  const { idleShareOfCore: idle } = results;
  const cpu = idle === undefined ? NOT_MEASURED : `${formatNumber(idle * 100)} %`;
  const idleRow = ['without any request: of a core', '', '', '', '', cpu];
  return formatColumns([HEAD, ...rows, [...idleRow, IDLE_TARGET[runMode] ?? '']]);
}

function stageRow(stage: MeasuredStage, targets: Record<string, StageTargets>): string[] {
  const { load } = stage;
  const target = targets[`${stage.perSecond} ${stage.applications}`];
  return [
    labelOf(stage),
    ...[formatMs(load?.latencyMs.p50), atMost(target?.p50)],
    ...[formatMs(load?.latencyMs.p99), atMost(target?.p99)],
    ...[formatMs(load?.cost?.cpuMs), atMost(target?.cpu)],
  ];
}

/** What a reader needs to judge the figures: the machine, the method, and the targets beside them. */
import { cpus, release, totalmem, type } from 'node:os';
import { readable } from './figures.ts';
import type { Results } from './measurements.ts';
import { run } from './submissions.ts';

export interface Machine {
  cpu: string;
  cores: number;
  memoryGib: number;
  system: string;
  node: string;
  postgres: string;
  fsync: string;
}

/** The machine and the programs on it. */
export async function describeMachine(adminUrl: string): Promise<Machine> {
  const [server] = await run(
    adminUrl,
    `SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync`,
  );
  const processors = cpus();
  return {
    cpu: processors[0]?.model.trim() ?? 'unknown',
    cores: processors.length,
    memoryGib: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    node: process.version,
    postgres: String(server?.version),
    fsync: String(server?.fsync),
  };
}

const METHOD = `Method: the platform in one process; its PostgreSQL, the load generator and the receiver beside it
on this machine, fsync on. The limit is the decision write's own statement, prepared, straight through
pg. Closed loads are the best of several strengths; loads at a fixed rate wait for nobody, timed from
sending. A delivery is timed from its request to the first byte at a receiver that answers at once. CPU
is that of the platform and PostgreSQL together. Compare ratios of one run, not figures of two.`;

/** The results as text for a terminal. */
export function reportOf(machine: Machine, results: Results): string {
  const { cpu, cores, memoryGib, system, node, postgres, fsync } = machine;
  return [
    `${cores} × ${cpu}, ${memoryGib} GiB, ${system}, Node ${node}, PostgreSQL ${postgres}, fsync ${fsync}`,
    METHOD,
    '',
    ...aligned([['', 'measured', 'target'], ...rowsOf(results)]),
  ].join('\n');
}

type Row = [what: string, measured: string, target: string];

function rowsOf({
  limit,
  writes,
  writesAtHalfLoad,
  deliveries,
  deliveriesAtHalfLoad,
  backlog,
}: Results): Row[] {
  const ms = (value: number | undefined) => (value === undefined ? '–' : `${readable(value)} ms`);
  const rate = (perSecond: number) => `${readable(perSecond)}/s`;
  const half = ({ perSecond }: { perSecond: number }) => `at ${rate(perSecond)}`;
  return [
    ['limit: the write through pg', rate(limit.best.perSecond), ''],
    ['decisions through the gateway', rate(writes.best.perSecond), ''],
    ['  as a share of the limit', `${readable(writes.shareOfLimit * 100)} %`, '≥ 50 %'],
    ['  CPU each', ms(writes.cpuMs), ''],
    [`  ${half(writesAtHalfLoad)}: p50`, ms(writesAtHalfLoad.latencyMs.p50), ''],
    [`  ${half(writesAtHalfLoad)}: p99`, ms(writesAtHalfLoad.latencyMs.p99), ''],
    ['request → delivered webhook', rate(deliveries.best.perSecond), '≥ 3,200/s'],
    ['  CPU each', ms(deliveries.cpuMs), '≤ 0.5 ms'],
    [`  ${half(deliveriesAtHalfLoad)}: p50`, ms(deliveriesAtHalfLoad.latencyMs.p50), '≤ 3 ms'],
    [`  ${half(deliveriesAtHalfLoad)}: p99`, ms(deliveriesAtHalfLoad.latencyMs.p99), '≤ 12 ms'],
    ['  the generator late by, p99', ms(deliveriesAtHalfLoad.lateMs.p99), ''],
    ['delivered from a backlog', rate(backlog.perSecond), '≥ 6,500/s'],
    ['  CPU each', ms(backlog.cpuMs), ''],
  ];
}

function aligned(rows: Row[]): string[] {
  const widths = [0, 1, 2].map((n) => Math.max(...rows.map((row) => row[n]?.length ?? 0)));
  const [what = 0, measured = 0, target = 0] = widths;
  return rows.map((row) =>
    `${row[0].padEnd(what)}  ${row[1].padStart(measured)}  ${row[2].padStart(target)}`.trimEnd(),
  );
}

/** Webhooks beside 50,000,000 kept deliveries and beside none, in turns; needs 30 GB of disk and a quarter of an hour. */
import { setTimeout as delay } from 'node:timers/promises';
import { insertKeptHistory, KEPT_DAYS } from '../data/kept-history.ts';
import { runSql } from '../data/sql.ts';
import { vacuumAll } from '../data/vacuum.ts';
import { makeDeliveryOperation } from '../load/delivery.ts';
import { summarizeTimes } from '../load/latency.ts';
import { type Operation, runAtFixedRate, runClosedLoad } from '../load/load-patterns.ts';
import { openReceiver } from '../load/webhook-receiver.ts';
import { readCpuTimes } from '../platform/cpu-cost.ts';
import { startScalePlatform } from '../platform/scale-platform.ts';
import { measureScale, type Scale } from '../scale-subject.ts';

const PER_DAY = 1_666_670;
const ROUNDS = 9;
const PER_SECOND = 100;
const APPLICATIONS = 256;
const CALLERS = 32;
const WARM_UP_MS = 1_000;
const FIXED_MS = 6_000;
const CLOSED_MS = 4_000;
/** PostgreSQL counts what a connection has read within this time. */
const STATISTICS_MS = 11_000;
/** Kept rows may cost so much. */
const MAX_RATIO = 1.1;

type Platform = Awaited<ReturnType<typeof startScalePlatform>>;

const FIGURES = ['p50', 'p99', 'perSecond', 'cpuMs'] as const;
type Figure = (typeof FIGURES)[number];
/** Of one round: times in milliseconds, and the CPU time of PostgreSQL and of this process for each webhook. */
type Round = Record<Figure, number>;

/** A platform, and its rounds. */
interface Side {
  readonly name: 'kept' | 'empty';
  readonly platform: Platform;
  readonly deliver: Operation;
  readonly rounds: Round[];
}

async function measure(scale: Scale): Promise<void> {
  const receiver = await openReceiver(scale);
  const start = async (name: Side['name']): Promise<Side> => {
    const platform = await startScalePlatform(scale, receiver.url);
    const deliver = await makeDeliveryOperation(platform, receiver, APPLICATIONS);
    return { name, platform, deliver, rounds: [] };
  };
  const empty = await start('empty');
  const kept = await start('kept');
  scale.print(`making ${KEPT_DAYS} days of ${PER_DAY} deliveries`);
  await insertKeptHistory(kept.platform.databaseUrls, { days: KEPT_DAYS, perDay: PER_DAY });
  await vacuumAll(kept.platform.databaseUrls);
  for (const { platform } of [empty, kept]) await runSql(platform.adminUrl, 'CHECKPOINT');
  await printSize(scale, kept.platform);

  await delay(STATISTICS_MS);
  const scansBefore = await countScans(kept.platform);
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const side of round % 2 === 0 ? [kept, empty] : [empty, kept]) {
      const figures = await runRound(side);
      scale.print(`${side.name}: ${describe(figures)}`);
      // The first round makes connections and plans.
      if (round > 0) side.rounds.push(figures);
    }
  }
  await delay(STATISTICS_MS);
  const scans = await countScans(kept.platform);

  scale.print(`medians without kept deliveries: ${describe(medianOf(empty))}`);
  scale.print(`medians beside kept deliveries: ${describe(medianOf(kept))}`);
  const ratioOf = (figure: Figure) => medianRatio(kept, empty, figure);
  scale.limit('CPU beside kept deliveries by that without', ratioOf('cpuMs'), MAX_RATIO);
  scale.limit('p50 beside kept deliveries by that without', ratioOf('p50'), MAX_RATIO);
  scale.limit(
    'throughput without by that beside kept deliveries',
    medianRatio(empty, kept, 'perSecond'),
    MAX_RATIO,
  );
  for (const [table, before] of Object.entries(scansBefore)) {
    const looks = (scans[table] ?? 0) - before;
    // The reconciler, which runs every few seconds, reads the inbox and the outbox by lists of ids.
    if (['inbox', 'outbox_published'].includes(table)) {
      scale.print(
        `looks of the reconciler into past days of ${table}: ${looks} for ${written} webhooks`,
      );
    } else {
      scale.limit(`looks into past days of ${table}`, looks, 0);
    }
  }
}

function describe({ p50, p99, perSecond, cpuMs }: Round): string {
  const times = `at ${PER_SECOND}/s p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;
  return `${times}; ${CALLERS} callers ${perSecond.toFixed(0)}/s; CPU ${cpuMs.toFixed(2)} ms`;
}

function medianOf({ rounds }: Side): Round {
  const medians = FIGURES.map((figure) => {
    return [figure, summarizeTimes(rounds.map((round) => round[figure])).p50] as const;
  });
  return Object.fromEntries(medians) as Round;
}

/** The median of the rounds' ratios: the two parts of a round follow each other, on a machine that changes from minute to minute. */
function medianRatio(side: Side, other: Side, figure: Figure): number {
  const ratios = side.rounds.map((round, n) => round[figure] / (other.rounds[n]?.[figure] ?? NaN));
  return summarizeTimes(ratios).p50;
}

let written = 0;

async function runRound({ platform, ...side }: Side): Promise<Round> {
  const deliver = () => {
    written += 1;
    return side.deliver();
  };
  const [writtenBefore, cpuBefore] = [written, await readCpuMs(platform)];
  const { latencyMs } = await runAtFixedRate(deliver, {
    ...{ perSecond: PER_SECOND, warmUpMs: WARM_UP_MS, measureMs: FIXED_MS },
  });
  const { perSecond } = await runClosedLoad(deliver, {
    ...{ callers: CALLERS, warmUpMs: WARM_UP_MS, measureMs: CLOSED_MS },
  });
  await platform.settled();
  const cpuMs = ((await readCpuMs(platform)) - cpuBefore) / (written - writtenBefore);
  return { p50: latencyMs.p50, p99: latencyMs.p99, perSecond, cpuMs };
}

/** The CPU time so far of this process and of the platform's PostgreSQL. */
async function readCpuMs({ postgresPid }: Platform): Promise<number> {
  const times = await readCpuTimes({ postgres: postgresPid() });
  const { user, system } = process.cpuUsage();
  return (times?.postgres ?? 0) + (user + system) / 1_000;
}

async function printSize(scale: Scale, { databaseUrls }: Platform): Promise<void> {
  for (const database of ['decisions', 'webhook-dispatcher'] as const) {
    const rows = await runSql(
      databaseUrls[database],
      `SELECT regexp_replace(relname, '_[0-9]{8}$', '') AS name, sum(reltuples)::bigint::text AS rows,
         pg_size_pretty(sum(pg_total_relation_size(oid))) AS size
       FROM pg_class WHERE relkind = 'r' AND relname ~ '_[0-9]{8}$' GROUP BY 1 ORDER BY 1`,
    );
    for (const { name, rows: count, size } of rows) scale.print(`${name}: ${count} rows, ${size}`);
  }
}

/** How often statements have looked into partitions of earlier days than yesterday, by table. */
async function countScans({ databaseUrls }: Platform): Promise<Record<string, number>> {
  const scans: Record<string, number> = {};
  for (const database of ['decisions', 'webhook-dispatcher'] as const) {
    const rows = await runSql(
      databaseUrls[database],
      `SELECT regexp_replace(relname, '_[0-9]{8}$', '') AS name, sum(seq_scan + coalesce(idx_scan, 0))::float8 AS scans
       FROM pg_stat_user_tables WHERE relname ~ '_[0-9]{8}$'
         AND to_date(right(relname, 8), 'YYYYMMDD') < (now() AT TIME ZONE 'UTC')::date - 1 GROUP BY 1`,
    );
    for (const { name, scans: count } of rows) {
      scans[String(name)] = (scans[String(name)] ?? 0) + Number(count);
    }
  }
  return scans;
}

await measureScale(measure);

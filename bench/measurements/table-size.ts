/** The cost of large tables: a new platform and one with a million past decisions, under one load in turns. */
import { insertPastDecisions, insertPastDeliveries } from '../data/decision-history.ts';
import { runSql } from '../data/sql.ts';
import { copySubmission } from '../data/submissions.ts';
import type { OperationKind } from '../load/load-worker.ts';
import type { Plan } from '../plan.ts';
import { type BenchPlatform, prepareWriters, setWriter } from '../platform/bench-platform.ts';
import { measureClosedLoad, type Print, WRITE, WRITE_AND_DELIVERY, warmUp } from './throughput.ts';

/** One load on both platforms. */
export interface Comparison {
  new: Turn[];
  old: Turn[];
  /** The old platform's operations per second, as a share of the new one's. */
  share: number;
}

export interface Turn {
  perSecond: number;
  cpuMs: number | undefined;
}

export interface TableSizeResults {
  /** The number of past decisions in the old platform's tables. */
  decisions: number;
  writes: Comparison;
  deliveries: Comparison;
}

/** Two platforms in the same run mode. */
export interface PlatformPair {
  new: BenchPlatform;
  /** The platform that gets the past decisions. */
  old: BenchPlatform;
}

/** A symmetric order, so that a machine that becomes slower or faster affects both alike. */
const TURNS = ['new', 'old', 'old', 'new'] as const;

export async function measureTableSize(
  platforms: PlatformPair,
  plan: Plan,
  print: Print,
): Promise<TableSizeResults> {
  const { history, single } = plan;
  const { decisions } = history;
  print('Warming up');
  for (const platform of [platforms.new, platforms.old]) {
    await prepareWriters(platform, plan.applications);
    await warmUp(platform, plan);
    await platform.settled();
  }
  print(`Inserting ${decisions} past decisions`);
  await insertHistory(platforms.old, plan);
  for (const platform of [platforms.new, platforms.old]) await vacuumAndCheckpoint(platform);

  print('Decisions recorded on both platforms in turns');
  const writes = await measureInTurns(platforms, plan, WRITE, single.writers);
  print('Webhooks received from both platforms in turns');
  const deliveries = await measureInTurns(platforms, plan, WRITE_AND_DELIVERY, single.deliveries);
  return { decisions, writes, deliveries };
}

/** Inserts the past decisions, and makes their newest applications those of the tenant with webhooks. */
async function insertHistory(
  platform: BenchPlatform,
  { applications, history }: Plan,
): Promise<void> {
  const { databaseUrls, tenants } = platform;
  const applicationIds = await copySubmission(
    { fromUrl: databaseUrls.decisions },
    tenants.withWebhook,
    history.applications,
  );
  const past = { applicationIds, each: Math.ceil(history.decisions / applicationIds.length) };
  // The deliveries first: the reconciler reports events that have been written and have no effect.
  await insertPastDeliveries(databaseUrls['webhook-dispatcher'], past);
  await insertPastDecisions(databaseUrls.decisions, past);
  // As many as the writers of the new platform have, and the newest, as in production.
  await setWriter(platform, 'withWebhook', applicationIds.slice(-applications));
}

/** Does what autovacuum and the checkpointer would have done if the decisions had come over time. */
async function vacuumAndCheckpoint({ databaseUrls, adminUrl }: BenchPlatform): Promise<void> {
  for (const owner of ['decisions', 'webhook-dispatcher'] as const) {
    await runSql(databaseUrls[owner], 'VACUUM (ANALYZE)');
  }
  await runSql(adminUrl, 'CHECKPOINT');
}

async function measureInTurns(
  platforms: PlatformPair,
  plan: Plan,
  kind: OperationKind,
  callers: number,
): Promise<Comparison> {
  const turns = { new: [] as Turn[], old: [] as Turn[] };
  for (let round = 0; round < plan.history.rounds; round += 1) {
    for (const name of TURNS) {
      const { best, cost } = await measureClosedLoad(platforms[name], plan, kind, [callers]);
      turns[name].push({ perSecond: best.perSecond, cpuMs: cost?.cpuMs });
    }
  }
  return { ...turns, share: sumRates(turns.old) / sumRates(turns.new) };
}

function sumRates(turns: Turn[]): number {
  return turns.reduce((total, { perSecond }) => total + perSecond, 0);
}

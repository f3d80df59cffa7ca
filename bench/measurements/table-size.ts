/** What a long past costs: two platforms take turns, and one of them has decided a million times. */
import { writeDecisions, writeDeliveries } from '../data/decision-history.ts';
import { copySubmission, run } from '../data/submissions.ts';
import type { Exchanges } from '../load/load-worker.ts';
import type { Plan } from '../plan.ts';
import { type BenchPlatform, introduce, introduceWriters } from '../platform/bench-platform.ts';
import { closed, type Say, TOLD, UNTOLD, warmUp } from './throughput.ts';

/** One load on each in turn. */
export interface Turns {
  new: Turn[];
  old: Turn[];
  /** Of the decisions a second of the new one, what the old one reaches. */
  share: number;
}

export interface Turn {
  perSecond: number;
  cpuMs: number | undefined;
}

export interface Burden {
  /** In the tables of the old one. */
  decisions: number;
  writes: Turns;
  deliveries: Turns;
}

/** Two platforms of the same shape. */
export interface Worlds {
  new: BenchPlatform;
  old: BenchPlatform;
}

/** There and back: neither has the better time of the machine. */
const ROUND = ['new', 'old', 'old', 'new'] as const;

export async function measureBurden(worlds: Worlds, plan: Plan, say: Say): Promise<Burden> {
  const { history, usual } = plan;
  const { decisions } = history;
  say('Warming up');
  for (const world of [worlds.new, worlds.old]) {
    await introduceWriters(world, plan.applications);
    await warmUp(world, plan);
    await world.settled();
  }
  say(`Making ${decisions} decisions of the past`);
  await makeOld(worlds.old, plan);
  for (const world of [worlds.new, worlds.old]) await tidyUp(world);

  say('Decisions written with and without them, in turns');
  const ofWrites = await takeTurns(worlds, plan, UNTOLD, usual.writers);
  say('Webhooks received with and without them, in turns');
  const ofDeliveries = await takeTurns(worlds, plan, TOLD, usual.deliveries);
  return { decisions, writes: ofWrites, deliveries: ofDeliveries };
}

/** Gives the platform its past, and has those who are told go on deciding on what it is about. */
async function makeOld(world: BenchPlatform, { applications, history }: Plan): Promise<void> {
  const { databaseUrls, tenants } = world;
  const fromUrl = databaseUrls.decisions;
  const applicationIds = await copySubmission({ fromUrl }, tenants.told, history.applications);
  const past = { applicationIds, each: Math.ceil(history.decisions / applicationIds.length) };
  await writeDecisions(databaseUrls.decisions, past);
  await writeDeliveries(databaseUrls['webhook-dispatcher'], past);
  // As many as the other platform's writers have: what is decided on is what is new.
  await introduce(world, 'told', applicationIds.slice(-applications));
}

/** What the servers would have done by now, if the past had taken its time. */
async function tidyUp({ databaseUrls, adminUrl }: BenchPlatform): Promise<void> {
  for (const owner of ['decisions', 'webhook-dispatcher'] as const) {
    await run(databaseUrls[owner], 'VACUUM (ANALYZE)');
  }
  await run(adminUrl, 'CHECKPOINT');
}

async function takeTurns(
  worlds: Worlds,
  plan: Plan,
  of: Exchanges,
  callers: number,
): Promise<Turns> {
  const turns = { new: [] as Turn[], old: [] as Turn[] };
  for (let round = 0; round < plan.history.rounds; round += 1) {
    for (const whose of ROUND) {
      const { best, cost } = await closed(worlds[whose], plan, of, [callers]);
      turns[whose].push({ perSecond: best.perSecond, cpuMs: cost?.cpuMs });
    }
  }
  return { ...turns, share: sum(turns.old) / sum(turns.new) };
}

function sum(turns: Turn[]): number {
  return turns.reduce((total, { perSecond }) => total + perSecond, 0);
}

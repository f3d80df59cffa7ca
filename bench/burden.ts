/** What a long past costs: two platforms take turns, and one of them has decided a million times. */
import { writeDecisions, writeDeliveries } from './history.ts';
import { closed, type Say, TOLD, UNTOLD, warmUp } from './measurements.ts';
import type { Exchanges } from './outside-part.ts';
import type { Plan } from './plan.ts';
import { copySubmission, run } from './submissions.ts';
import { introduce, introduceWriters, type World } from './world.ts';

/** One load on each in turn: decisions a second, and what share of the new one's the old one reaches. */
export interface Turns {
  new: number[];
  old: number[];
  share: number;
}

export interface Burden {
  /** In the tables of the old one. */
  decisions: number;
  writes: Turns;
  deliveries: Turns;
}

/** Two platforms of the same shape. */
export interface Worlds {
  new: World;
  old: World;
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
async function makeOld(world: World, { applications, history }: Plan): Promise<void> {
  const { databaseUrls, tenants } = world;
  const fromUrl = databaseUrls.decisions;
  const applicationIds = await copySubmission({ fromUrl }, tenants.told, history.applications);
  const past = { applicationIds, each: Math.ceil(history.decisions / applicationIds.length) };
  await writeDecisions(databaseUrls.decisions, past);
  await writeDeliveries(databaseUrls['webhook-dispatcher'], past);
  // As many as the other platform's writers have, from all over the tables.
  const every = Math.max(1, Math.floor(applicationIds.length / applications));
  await introduce(
    world,
    'told',
    applicationIds.filter((_, index) => index % every === 0),
  );
}

/** What the servers would have done by now, if the past had taken its time. */
async function tidyUp({ databaseUrls, adminUrl }: World): Promise<void> {
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
  const turns = { new: [] as number[], old: [] as number[] };
  for (let round = 0; round < plan.history.rounds; round += 1) {
    for (const whose of ROUND) {
      const { best } = await closed(worlds[whose], plan, of, [callers]);
      turns[whose].push(best.perSecond);
    }
  }
  return { ...turns, share: sum(turns.old) / sum(turns.new) };
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

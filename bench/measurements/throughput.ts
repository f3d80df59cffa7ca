/** What is measured of a platform in either shape, against the limit that was measured beside it. */

import { pileUp } from '../data/delivery-backlog.ts';
import { type Apart, prepareApart } from '../data/separate-databases.ts';
import type { Latency } from '../load/latency.ts';
import type { OpenLoad } from '../load/load-patterns.ts';
import type { Exchanges } from '../load/load-worker.ts';
import type { Plan } from '../plan.ts';
import { type BenchPlatform, introduceWriters } from '../platform/bench-platform.ts';
import { type Cost, costOf } from '../platform/cpu-cost.ts';
import { type Attempts, attempt, bestStrength, merge } from './load-levels.ts';
import { measureStages, type Stages } from './relay-and-dispatcher.ts';

export interface Results {
  /** The decision write as one prepared statement, by connections. */
  limit: Attempts;
  /** Decisions written through the gateway, nobody to be told, by callers. */
  writes: Attempts & { shareOfLimit: number; cost: Cost | undefined };
  writesAtHalfLoad: OpenLoad & { perSecond: number };
  /** Decisions written and their webhooks received, by exchanges under way. */
  deliveries: Attempts & { cost: Cost | undefined };
  /** From the request, and from the commit, to the first byte at the receiver. */
  deliveriesAtHalfLoad: OpenLoad & { sinceCommitMs: Latency; perSecond: number };
  /** Deliveries that were due when nobody could make them. */
  backlog: { perSecond: number; cost: Cost | undefined };
  /** Only where each service is a process: in one, none can be alone. */
  stages?: Stages;
}

/** Those whose decisions nobody is to hear of, and those with a webhook destination. */
export const UNTOLD: Exchanges = { writer: 'untold', ending: 'answer' };
export const TOLD: Exchanges = { writer: 'told', ending: 'webhook' };

export type Say = (line: string) => void;

/** Measures everything; `say` gets a line before each part. */
export async function measure(world: BenchPlatform, plan: Plan, say: Say): Promise<Results> {
  await introduceWriters(world, plan.applications);
  const apart = await prepareApart(world, plan.applications);
  say('Warming up');
  await warmUp(world, plan);
  await limitAt(world, apart, { ...plan, measureMs: 500 }, 8);

  say('The limit: the decision write as one prepared statement');
  const limitOf = (connections: number) => limitAt(world, apart, plan, connections);
  const limitBefore = await attempt(plan.connections, limitOf);

  say('Decisions written through the gateway');
  const writes = await closed(world, plan, UNTOLD, plan.writers);
  const halfOfWrites = halfLoad(plan, writes);
  const writesAtHalfLoad = await world.outside.call('open', { of: UNTOLD, ...halfOfWrites });
  await world.settled();

  say('The limit again');
  const limit = merge(limitBefore, await attempt([bestStrength(limitBefore)], limitOf));

  say('Decisions written and their webhooks received');
  const deliveries = await closed(world, plan, TOLD, plan.deliveries);
  const halfOfDeliveries = halfLoad(plan, deliveries);
  const deliveriesAtHalfLoad = await world.outside.call('openFromCommit', {
    url: world.databaseUrls.decisions,
    ...halfOfDeliveries,
  });
  await world.settled();

  say('Webhooks sent from a backlog');
  const backlog = await workOff(world, plan.backlog);

  const shareOfLimit = writes.best.perSecond / limit.best.perSecond;
  const results = {
    limit,
    writes: { ...writes, shareOfLimit },
    writesAtHalfLoad: { ...writesAtHalfLoad, perSecond: halfOfWrites.perSecond },
    deliveries,
    deliveriesAtHalfLoad: { ...deliveriesAtHalfLoad, perSecond: halfOfDeliveries.perSecond },
    backlog,
  };
  if (world.fleet === undefined) return results;
  say('The relay alone, then the dispatcher alone');
  return { ...results, stages: await measureStages(world, apart) };
}

/** A program's first exchanges are its compiler's; they cost several times what later ones do. */
export async function warmUp(world: BenchPlatform, plan: Plan): Promise<void> {
  await world.outside.call('warmUp', { of: TOLD, ...plan.warmUp });
}

function limitAt(
  world: BenchPlatform,
  apart: Apart,
  { warmUpMs, measureMs }: Plan,
  connections: number,
) {
  const { databaseUrls, creditorId, applicationIds } = apart;
  const where = { url: databaseUrls.decisions, creditorId, applicationIds };
  return world.outside.call('limit', { ...where, connections, warmUpMs, measureMs });
}

/** Closed loads of several strengths, and what one exchange costs over all of them. */
export async function closed(
  world: BenchPlatform,
  { warmUpMs, measureMs }: Plan,
  of: Exchanges,
  strengths: readonly number[],
): Promise<Attempts & { cost: Cost | undefined }> {
  let exchanges = 0;
  let attempts: Attempts | undefined;
  const cost = await costOf(world, async () => {
    attempts = await attempt(strengths, async (callers) => {
      const rate = await world.outside.call('closed', { of, callers, warmUpMs, measureMs });
      exchanges += rate.exchanges;
      // Whatever this one left behind is not for the next one to carry.
      await world.settled();
      return rate;
    });
    return exchanges;
  });
  if (attempts === undefined) throw new Error('nothing was attempted');
  return { ...attempts, cost };
}

function halfLoad({ warmUpMs, openMs }: Plan, { best }: Attempts) {
  return { perSecond: Math.max(10, Math.round(best.perSecond / 2)), warmUpMs, measureMs: openMs };
}

async function workOff(world: BenchPlatform, count: number): Promise<Results['backlog']> {
  let perSecond = 0;
  const cost = await costOf(world, async () => {
    const received = world.outside.call('receive', { count, skip: 0 });
    await pileUp(world.databaseUrls['webhook-dispatcher'], count);
    perSecond = await received;
    await world.settled();
    return count;
  });
  return { perSecond, cost };
}

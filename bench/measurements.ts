/** The measurements, one after another, each against the limit that was measured just before it. */
import { pileUp } from './backlog.ts';
import { cpuTimeMs } from './cpu-time.ts';
import type { Latency, Rate } from './figures.ts';
import type { OpenLoad } from './load.ts';
import type { Exchanges } from './outside-part.ts';
import type { Plan } from './plan.ts';
import type { World } from './world.ts';

export interface Results {
  /** The decision write as one prepared statement, by connections. */
  limit: Attempts;
  /** Decisions written through the gateway, nobody to be told, by callers. */
  writes: Attempts & { shareOfLimit: number; cpuMs: number | undefined };
  writesAtHalfLoad: OpenLoad & { perSecond: number };
  /** Decisions written and their webhooks received, by exchanges under way. */
  deliveries: Attempts & { cpuMs: number | undefined };
  /** From the request to the first byte at the receiver. */
  deliveriesAtHalfLoad: OpenLoad & { perSecond: number };
  backlog: { perSecond: number; cpuMs: number | undefined };
}

/** The same load at several strengths; `best` is the fastest. */
export interface Attempts {
  best: Rate;
  byStrength: Record<number, { perSecond: number; latencyMs: Latency }>;
}

/** Those whose decisions nobody is to hear of, and those with a webhook destination. */
const UNTOLD: Exchanges = { writer: 'untold', ending: 'answer' };
const TOLD: Exchanges = { writer: 'told', ending: 'webhook' };

/** Measures everything; `say` gets a line before each part. */
export async function measure(
  world: World,
  plan: Plan,
  say: (line: string) => void,
): Promise<Results> {
  const { outside } = world;
  const { warmUpMs, measureMs } = plan;
  say('Warming up');
  // A program's first exchanges are its compiler's; they cost several times what later ones do.
  await outside.call('warmUp', { of: TOLD, callers: 64, ...plan.warmUp });
  await outside.call('limit', { ...world.limit, connections: 8, warmUpMs, measureMs: 500 });

  say('The limit: the decision write as one prepared statement');
  const limitOf = (connections: number) =>
    outside.call('limit', { ...world.limit, connections, warmUpMs, measureMs });
  const limitBefore = await attempt(plan.connections, limitOf);

  say('Decisions written through the gateway');
  const writes = await closed(world, plan, UNTOLD, plan.writers);
  const perSecondOfHalf = Math.round(writes.best.perSecond / 2);
  const writesAtHalfLoad = await open(world, plan, UNTOLD, perSecondOfHalf);

  say('The limit again');
  const limit = merge(limitBefore, await attempt([strengthOf(limitBefore)], limitOf));

  say('Decisions written and their webhooks received');
  const deliveries = await closed(world, plan, TOLD, plan.deliveries);
  const perSecond = Math.round(deliveries.best.perSecond / 2);
  const deliveriesAtHalfLoad = await open(world, plan, TOLD, perSecond);

  say('Webhooks sent from a backlog');
  const backlog = await workOff(world, plan.backlog);
  const shareOfLimit = writes.best.perSecond / limit.best.perSecond;
  return {
    limit,
    writes: { ...writes, shareOfLimit },
    writesAtHalfLoad,
    deliveries,
    deliveriesAtHalfLoad,
    backlog,
  };
}

/** Closed loads of several strengths, and the CPU time of one exchange over all of them. */
async function closed(
  world: World,
  { warmUpMs, measureMs }: Plan,
  of: Exchanges,
  strengths: readonly number[],
): Promise<Attempts & { cpuMs: number | undefined }> {
  const usedMs = await cpuOf(world);
  let exchanges = 0;
  const attempts = await attempt(strengths, async (callers) => {
    const load = { callers, warmUpMs, measureMs };
    const rate = await world.outside.call('closed', { of, ...load });
    exchanges += rate.exchanges;
    // Whatever this one left behind is not for the next one to carry.
    await world.house.call('settled', undefined);
    return rate;
  });
  return { ...attempts, cpuMs: each(usedMs, await cpuOf(world), exchanges) };
}

async function open(
  world: World,
  { warmUpMs, openMs }: Plan,
  of: Exchanges,
  perSecond: number,
): Promise<OpenLoad & { perSecond: number }> {
  const load = { perSecond, warmUpMs, measureMs: openMs };
  const result = await world.outside.call('open', { of, ...load });
  await world.house.call('settled', undefined);
  return { ...result, perSecond };
}

async function workOff(world: World, count: number): Promise<Results['backlog']> {
  const received = world.outside.call('receive', count);
  const usedMs = await cpuOf(world);
  await pileUp(world.webhooksUrl, count);
  const startedMs = performance.now();
  await received;
  const seconds = (performance.now() - startedMs) / 1000;
  await world.house.call('settled', undefined);
  return { perSecond: count / seconds, cpuMs: each(usedMs, await cpuOf(world), count) };
}

async function attempt(
  strengths: readonly number[],
  load: (strength: number) => Promise<Rate>,
): Promise<Attempts> {
  const byStrength: Attempts['byStrength'] = {};
  for (const strength of strengths) {
    const { perSecond, latencyMs } = await load(strength);
    byStrength[strength] = { perSecond, latencyMs };
  }
  return bestOf(byStrength);
}

function bestOf(byStrength: Attempts['byStrength']): Attempts {
  const [best] = Object.values(byStrength).sort((a, b) => b.perSecond - a.perSecond);
  if (best === undefined) throw new Error('nothing was attempted');
  return { best, byStrength };
}

function strengthOf({ best, byStrength }: Attempts): number {
  return Number(Object.keys(byStrength).find((key) => byStrength[Number(key)] === best));
}

/** The faster of two attempts at each strength. */
function merge(first: Attempts, second: Attempts): Attempts {
  const byStrength = { ...first.byStrength };
  for (const [key, rate] of Object.entries(second.byStrength)) {
    const strength = Number(key);
    const before = byStrength[strength]?.perSecond ?? 0;
    if (rate.perSecond > before) byStrength[strength] = rate;
  }
  return bestOf(byStrength);
}

/** What the platform has used so far: its own process and PostgreSQL's. */
function cpuOf({ house, postgresPid }: World): Promise<number | undefined> {
  return cpuTimeMs(house.pid, postgresPid());
}

function each(fromMs: number | undefined, toMs: number | undefined, count: number) {
  return fromMs === undefined || toMs === undefined ? undefined : (toMs - fromMs) / count;
}

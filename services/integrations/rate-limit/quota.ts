/**
 * The rule of rate limits: the generic cell rate algorithm (GCRA, ITU-T I.371), extended by requests that the
 * gateway's replicas take ahead of time.
 */
import type { TakeRequestsRequest } from '@creditlane/proto/integrations/v1/integrations_service';

export interface RateLimit {
  /** The size of the whole quota. */
  readonly requests: number;
  /** The time in which the whole quota is regained. */
  readonly windowMs: number;
}

/** Requests that a replica of the gateway holds for later, or has admitted since it took them. */
export interface Block {
  readonly requests: number;
  /** Less than 0 after the end of the block. */
  readonly validMs: number;
}

/** A key's quota at one moment. */
export interface Quota {
  /** GCRA's theoretical arrival time less the moment: after so long, the whole quota is regained. */
  readonly wholeInMs: number;
  /**
   * Milliseconds in which the limit that this quota was kept by regained a request. Null: not known, and read by the limit
   * of the present call.
   */
  readonly perRequestMs: number | null;
  /** By the id of the replica. */
  readonly blocks: Readonly<Record<string, Block>>;
}

/** What one replica asks for. */
export type Demand = Readonly<
  Pick<TakeRequestsRequest, 'replicaId' | 'waiting' | 'ahead' | 'held' | 'returned'>
>;

/** How long a replica may hold requests. */
export const BLOCK_VALID_MS = 50_000;
/**
 * How long a block counts at least: longer than it is valid, because the clocks of two machines differ in
 * speed. It counts for the whole window where that is longer, because requests can be given back as long.
 * Nobody can use what a replica holds when it dies.
 */
const BLOCK_COUNTS_MS = 60_000;
/** The part of the whole quota that all replicas together may hold for later. */
const MAX_AHEAD = 0.1;
/** In requests: sums of thirds and sevenths of the window must not lose a request to rounding. */
const TOLERANCE = 1e-6;

/**
 * Takes as many requests as wait, and more ahead, from a quota that was `kept` some time ago.
 *
 * A request that is held may be used at any time until its block ends, so it counts as used then: what is
 * left and what all replicas hold are never more than the whole quota. So replicas admit no more in any
 * time than one GCRA would, which is the whole quota and what is regained in that time.
 *
 * After a change of the limit, as many requests as were used of the old one count as used of the new one, and no more than its
 * whole quota. Requests that replicas hold of the old one do not count: the replicas give them up within seconds.
 */
export function takeFromQuota(
  kept: Quota,
  elapsedMs: number,
  { requests, windowMs }: RateLimit,
  { replicaId, waiting, ahead, held, returned }: Demand,
): { quota: Quota; granted: number } {
  const perRequestMs = windowMs / requests;
  const passedMs = Math.max(0, elapsedMs);
  const keptPerRequestMs = kept.perRequestMs ?? perRequestMs;
  const isSameLimit = keptPerRequestMs === perRequestMs;
  const blocks = isSameLimit ? laterBlocks(kept.blocks, passedMs) : {};
  const { [replicaId]: own = { requests: 0, validMs: 0 }, ...others } = blocks;
  // A block that has ended is as old as the window at least, so that the quota has regained what is given back of it.
  const givenBack = own.validMs > 0 ? Math.min(returned, Math.max(0, own.requests - held)) : 0;
  const used = Math.max(0, own.requests - held - givenBack);
  blocks[replicaId] = { ...own, requests: used };
  const heldOfEarlier = isSameLimit ? 0 : requestsIn(laterBlocks(kept.blocks, passedMs));
  // `usedRequests` is negative where the quota has been whole for some time.
  const usedRequests = (kept.wholeInMs - passedMs) / keptPerRequestMs - heldOfEarlier;
  // Of an earlier, larger quota more may have been used than the whole present one, as which it counts.
  const regainedInMs = Math.min(usedRequests * perRequestMs, windowMs) - givenBack * perRequestMs;
  const wholeInMs = Math.max(regainedInMs, ifUsedLateMs(Object.values(blocks), held, perRequestMs));

  const left = Math.max(0, Math.floor((windowMs - wholeInMs) / perRequestMs + TOLERANCE));
  const valid = Object.entries(others).filter(([, { validMs }]) => validMs > 0);
  const heldByOthers = requestsIn(others);
  // A replica may hold half of what the others leave, so that as much is left for another one.
  const mayHold = Math.floor((requests * MAX_AHEAD - heldByOthers) / 2);
  const granted = Math.min(left, waiting + Math.max(0, Math.min(ahead, mayHold - held)));
  const heldNow = held + Math.max(0, granted - waiting);
  const block = { requests: heldNow, validMs: Math.max(BLOCK_COUNTS_MS, windowMs) };
  return {
    quota: {
      wholeInMs: wholeInMs + granted * perRequestMs,
      perRequestMs,
      blocks: { ...Object.fromEntries(valid), ...(heldNow > 0 && { [replicaId]: block }) },
    },
    granted,
  };
}

/** After how long the quota is whole if each block is used at its end, or now if it has not ended. */
function ifUsedLateMs(blocks: readonly Block[], held: number, perRequestMs: number): number {
  let usedMs = held * perRequestMs;
  let latestMs = usedMs;
  for (const { requests, validMs } of blocks.toSorted((a, b) => b.validMs - a.validMs)) {
    usedMs += requests * perRequestMs;
    latestMs = Math.max(latestMs, usedMs + Math.min(0, validMs));
  }
  return latestMs;
}

/** In the blocks that have not ended. */
function requestsIn(blocks: Quota['blocks']): number {
  const valid = Object.values(blocks).filter(({ validMs }) => validMs > 0);
  return valid.reduce((sum, block) => sum + block.requests, 0);
}

function laterBlocks(blocks: Quota['blocks'], passedMs: number): Record<string, Block> {
  const later = Object.entries(blocks).map(([id, { requests, validMs }]) => [
    id,
    { requests, validMs: validMs - passedMs },
  ]);
  return Object.fromEntries(later);
}

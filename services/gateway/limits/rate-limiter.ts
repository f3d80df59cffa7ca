/** Limits how many requests each key may make, over all replicas of the gateway. */
import type { AccessService } from '@creditlane/proto/integrations/v1/integrations_service';
import type { Client } from '@creditlane/rpc/client';
import { resourceExhausted, unavailable } from '@creditlane/rpc/fault';
import { newId } from '@creditlane/runtime/ids';
import type { Process } from '@creditlane/runtime/run';
import { LRUCache } from 'lru-cache';
import { type CallOptions, sharedCall } from '../access/call-options.ts';
import type { Caller } from '../access/callers.ts';
import { type Demand, type RateLimit, RequestBlock, type TakenRequests } from './request-block.ts';

/** More keys than are ever active at once; what an evicted block holds is lost. */
const MAX_BLOCKS = 100_000;
/** Requests wait for a call, so it must fail long before they do. A call takes about 2 ms. */
const CALL_TIMEOUT_MS = 1_000;

/** A request that was admitted or refused. */
export interface Verdict {
  /** The `RateLimit-Policy` header. */
  readonly policy: string;
  /** The `RateLimit` header. */
  readonly left: string;
  /** Throws a `resource_exhausted` or an `unavailable` Fault when the request was refused. */
  requireAdmitted(): void;
}

export class RateLimiter {
  readonly #access: Pick<Client<typeof AccessService>, 'takeRequests'>;
  readonly #limit: RateLimit;
  readonly #process: Pick<Process, 'log' | 'metrics'>;
  readonly #takes;
  readonly #replicaId = newId();
  readonly #blocks = new LRUCache<string, RequestBlock>({ max: MAX_BLOCKS });
  #isAway = false;

  /** `limit` is that of keys whose integration has none of its own. */
  constructor(
    access: Pick<Client<typeof AccessService>, 'takeRequests'>,
    limit: RateLimit,
    process: Pick<Process, 'log' | 'metrics'>,
  ) {
    this.#access = access;
    this.#limit = limit;
    this.#process = process;
    this.#takes = process.metrics.counter(
      'rate_limit_takes_total',
      'Calls that took requests from the quota of a key, by whether they got as many as waited.',
      ['outcome'],
    );
  }

  /** Takes one request of the caller's key, without a promise while this replica holds some. */
  take(caller: Caller, callOptions: CallOptions): Verdict | Promise<Verdict> {
    const { keyId, rateLimit = this.#limit } = caller;
    const block = this.#blocks.get(keyId) ?? this.#addBlock(keyId, rateLimit);
    const ask = (limit: RateLimit, demand: Demand) => this.#ask(keyId, limit, demand, callOptions);
    const taken = block.take(rateLimit, ask);
    if (!(taken instanceof Promise)) return verdictOf(block, rateLimit, taken);
    return taken.then((isAdmitted) => verdictOf(block, rateLimit, isAdmitted));
  }

  #addBlock(keyId: string, limit: RateLimit): RequestBlock {
    const block = new RequestBlock(limit, () => performance.now());
    this.#blocks.set(keyId, block);
    return block;
  }

  async #ask(
    keyId: string,
    { requests: limit, windowMs }: RateLimit,
    demand: Demand,
    callOptions: CallOptions,
  ): Promise<TakenRequests> {
    const request = { keyId, replicaId: this.#replicaId, limit, windowMs, ...demand };
    const deadlineMs = Date.now() + CALL_TIMEOUT_MS;
    try {
      const taken = await this.#access.takeRequests(request, {
        ...sharedCall(callOptions),
        deadlineMs,
      });
      this.#takes.inc({ outcome: taken.granted < demand.waiting ? 'used_up' : 'granted' });
      this.#isAway = false;
      return taken;
    } catch (err) {
      this.#takes.inc({ outcome: 'failed' });
      if (!this.#isAway) {
        this.#process.log.warn(
          { err },
          'the integrations service cannot be asked for requests; this replica admits a tenth of each limit',
        );
      }
      this.#isAway = true;
      throw err;
    }
  }
}

function verdictOf(
  block: RequestBlock,
  { requests, windowMs }: RateLimit,
  isAdmitted: boolean,
): Verdict {
  const left = block.left();
  return {
    policy: `"default";q=${requests};w=${Math.ceil(windowMs / 1_000)}`,
    // A replica does not ask again for every single request that is regained.
    left: `"default";r=${isAdmitted ? left.requests : 0};t=${Math.ceil(left.wholeInMs / 1_000)}`,
    requireAdmitted() {
      if (isAdmitted) return;
      const waitMs = block.admitsInMs();
      if (waitMs === undefined) throw unavailable('your rate limit is not known at present');
      const waitS = Math.max(1, Math.ceil(waitMs / 1_000));
      throw resourceExhausted('rate_limited', 'too many requests; please wait', waitS);
    },
  };
}

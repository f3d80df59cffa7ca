/** The client of the integrations service: which destinations receive an event, their URLs and secrets. */
import { createSecretKey, type KeyObject } from 'node:crypto';
import { DESTINATION_USABLE_MS } from '@creditlane/egress-rules/destination-url';
import type {
  Destination as DestinationMessage,
  DestinationsService,
} from '@creditlane/proto/integrations/v1/integrations_service';
import { Fault } from '@creditlane/rpc/fault';
import type { PeerClient } from '@creditlane/rpc/peer-client';
import { AdaptiveChunks } from '@creditlane/runtime/concurrency/adaptive-chunks';
import { Batcher } from '@creditlane/runtime/concurrency/batcher';
import { createExpiringCache } from '@creditlane/runtime/expiring-cache';
import { NIL_UUID } from '@creditlane/runtime/ids';
import type { LRUCache } from 'lru-cache';
import type {
  DestinationRevision,
  GrantQuery,
  RecipientLookup,
} from '../events/webhook-event-type.ts';
import { GRANT_MS } from '../queue/delivery.ts';
import { joinIds } from '../queue/joined-ids.ts';

const MAX_CACHED = 10_000;
/** A grant that was found is not asked for again meanwhile; half of `GRANT_MS`, so that a connection may still be opened. */
const GRANT_CACHE_MS = GRANT_MS / 2;
const MAX_CONCURRENT_CALLS = 16;
const MAX_IDS_PER_CALL = 1_000;
/** Of FindRecipients and of FindIntegrationRecipients. */
const MAX_QUERIES_PER_CALL = 250;

export interface Destination {
  readonly integrationId: string;
  readonly integrationName: string;
  /** Grows each time that the destination is set. */
  readonly revision: number;
  readonly url: string;
  /** The names of the webhooks that the destination gets; none where it gets all. */
  readonly events: readonly string[];
  /** How many attempts may begin in a second; undefined where there is no limit. */
  readonly deliveriesPerSecond?: number | undefined;
  /** Whether the integration may read social insurance numbers. */
  readonly readsSin: boolean;
  /** The live secrets, newest first; none when the newest cannot be opened. */
  readonly keys: readonly KeyObject[];
  /** Until when a request to it may begin, by performance.now(): a change of it is answered no earlier. */
  readonly usableUntilMs: number;
}

/** Why nothing can be sent to a destination without keys. */
export const SECRET_UNREADABLE = 'secret_unreadable';

/** What a payload names. */
type NamedRecords = Partial<Pick<GrantQuery, 'retailerId' | 'creditorId'>>;

/** A destination to look up, and the trace of the attempt that needs it. */
interface DestinationLookup {
  readonly id: string;
  readonly traceparent: string | undefined;
}

/** The question whether an integration has a grant, and the trace of the attempt that needs it. */
interface GrantLookup {
  readonly query: GrantQuery;
  readonly traceparent: string | undefined;
}

/** Methods reject with the fault of the integrations service while it is unavailable; no fault is cached. */
export class Destinations {
  readonly #client: PeerClient<typeof DestinationsService>;
  readonly #cache: LRUCache<string, Promise<Destination | undefined>>;
  readonly #queryChunks = new AdaptiveChunks(MAX_QUERIES_PER_CALL);
  /** Combines the lookups that are made in the same turn of the event loop into one call. */
  readonly #lookups: Batcher<DestinationLookup, Destination | undefined>;
  readonly #grantLookups: Batcher<GrantLookup, boolean>;
  /** Until when the grants that were found allow requests, by performance.now(). */
  readonly #grantEnds = createExpiringCache<number>(MAX_CACHED, GRANT_CACHE_MS);

  /** @param cacheMs how long destinations are cached: shorter than DESTINATION_USABLE_MS */
  constructor(client: PeerClient<typeof DestinationsService>, cacheMs: number) {
    this.#client = client;
    this.#cache = createExpiringCache(MAX_CACHED, cacheMs);
    this.#lookups = new Batcher((lookups) => this.#getDestinations(lookups), {
      maxConcurrent: MAX_CONCURRENT_CALLS,
      maxItems: MAX_IDS_PER_CALL,
    });
    this.#grantLookups = new Batcher((lookups) => this.#findGrants(lookups), {
      maxConcurrent: MAX_CONCURRENT_CALLS,
      maxItems: MAX_QUERIES_PER_CALL,
    });
  }

  /**
   * Finds the live destinations of all integrations with a live grant on the retailer or the creditor, or of
   * the one that the query names, if it has such a grant; without those whose event filter lacks the search's event.
   * Never cached: a destination that is left out of an event never receives the event.
   */
  readonly granted: RecipientLookup<GrantQuery> = {
    find: (searches, traceparent) =>
      this.#findAll(searches, async (chunk) => {
        const pairs = chunk.map(({ query, event = '' }) => ({ ...query, event }));
        const { byPair } = await this.#client.findRecipients({ pairs }, { traceparent });
        return byPair.map(({ recipients }) => recipients);
      }),
  };

  /**
   * Finds the destination of one integration, whatever its grants, unless its event filter lacks the search's event. Never
   * cached, like `granted`.
   */
  readonly ofIntegration: RecipientLookup<string> = {
    find: (searches, traceparent) =>
      this.#findAll(searches, async (chunk) => {
        const integrationIds = chunk.map(({ query }) => query);
        const events = chunk.map(({ event = '' }) => event);
        const request = { integrationIds, events };
        const answer = await this.#client.findIntegrationRecipients(request, { traceparent });
        const { byIntegration } = answer;
        return byIntegration.map(({ recipients }) => recipients);
      }),
  };

  /**
   * Whether the integration has a live grant on the retailer or the creditor that the payload names; without a name, it has
   * none. The destination's event filter does not apply: it decided at intake, and who asks for a replay wants it.
   */
  async isGranted(
    payload: NamedRecords,
    integrationId: string,
    traceparent: string | undefined,
  ): Promise<boolean> {
    const query = grantQueryOf(payload, integrationId);
    return query !== undefined && this.#grantLookups.add({ query, traceparent });
  }

  /**
   * As `isGranted`, but a grant that was found a short time ago is not asked for again. Resolves to the time until which the answer
   * allows requests to begin, by performance.now(); undefined without a grant.
   */
  async grantEndMs(
    payload: NamedRecords,
    integrationId: string,
    traceparent: string | undefined,
  ): Promise<number | undefined> {
    const key = joinIds(integrationId, payload.retailerId ?? '', payload.creditorId ?? '');
    const known = this.#grantEnds.get(key);
    if (known !== undefined) return known;
    const endMs = performance.now() + GRANT_MS;
    if (!(await this.isGranted(payload, integrationId, traceparent))) return undefined;
    this.#grantEnds.set(key, endMs);
    return endMs;
  }

  /**
   * A destination with its keys; `undefined` when the destination was removed.
   *
   * @param traceparent of the attempt; a call for several attempts is in the trace of the first
   */
  get(id: string, traceparent: string | undefined): Promise<Destination | undefined> {
    const cached = this.#cache.get(id);
    if (cached !== undefined) return cached;
    const destination = this.#lookups.add({ id, traceparent });
    destination.catch(() => this.#cache.delete(id));
    this.#cache.set(id, destination);
    return destination;
  }

  /** As `get`, but asks the integrations service even if the destination is cached. */
  getUncached(id: string, traceparent: string | undefined): Promise<Destination | undefined> {
    this.#cache.delete(id);
    return this.get(id, traceparent);
  }

  /**
   * Finds the recipients of all queries, in calls whose answers have the size and the time that they may. After two calls in
   * a row that took too long it rejects, because the service may be slow whatever it is asked: the next attempt, which the
   * consumer makes, begins with half of the queries of this one.
   */
  async #findAll<Query>(
    queries: readonly Query[],
    find: (chunk: Query[]) => Promise<DestinationRevision[][]>,
  ): Promise<DestinationRevision[][]> {
    const found: DestinationRevision[][] = [];
    let slowCalls = 0;
    const isTooLarge = (error: unknown) => {
      if (!(error instanceof Fault)) return false;
      if (error.kind === 'deadline') slowCalls += 1;
      return error.kind === 'resource_exhausted' || (error.kind === 'deadline' && slowCalls < 2);
    };
    const findChunk = async (chunk: readonly Query[]) => {
      const answers = await find([...chunk]);
      // Answers are matched to queries by their places: one too few would give events to other recipients.
      if (answers.length !== chunk.length) {
        throw new Error(`${chunk.length} queries for recipients got ${answers.length} answers`);
      }
      found.push(...answers);
      slowCalls = 0;
    };
    await this.#queryChunks.run(queries, findChunk, isTooLarge);
    return found;
  }

  async #findGrants(lookups: readonly GrantLookup[]): Promise<boolean[]> {
    const searches = lookups.map(({ query }) => ({ query }));
    const found = await this.granted.find(searches, lookups[0]?.traceparent);
    return found.map((recipients) => recipients.length > 0);
  }

  async #getDestinations(
    lookups: readonly DestinationLookup[],
  ): Promise<(Destination | undefined)[]> {
    const request = { destinationIds: [...new Set(lookups.map(({ id }) => id))] };
    const traceparent = lookups[0]?.traceparent;
    const usableUntilMs = performance.now() + DESTINATION_USABLE_MS;
    const { destinations } = await this.#client.getDestinations(request, { traceparent });
    const found = new Map(
      destinations.map((it) => [it.destinationId, toDestination(it, usableUntilMs)]),
    );
    return lookups.map(({ id }) => found.get(id));
  }
}

function grantQueryOf(
  { retailerId, creditorId }: NamedRecords,
  integrationId: string,
): GrantQuery | undefined {
  if (!retailerId && !creditorId) return undefined;
  return {
    retailerId: retailerId || NIL_UUID,
    creditorId: creditorId || NIL_UUID,
    integrationId,
  };
}

function toDestination(message: DestinationMessage, usableUntilMs: number): Destination {
  const { secrets, ...settings } = message;
  const { integrationId, integrationName, revision, url, events } = settings;
  const { deliveriesPerSecond, readsSin } = settings;
  return {
    integrationId,
    integrationName,
    revision,
    url,
    events,
    deliveriesPerSecond,
    readsSin,
    keys: secrets.map((secret) => createSecretKey(secret)),
    usableUntilMs,
  };
}

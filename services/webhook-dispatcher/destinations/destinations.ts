/** What the integrations service says of destinations: who is to be told, and where and how. */
import { createSecretKey, type KeyObject } from 'node:crypto';
import {
  type Destination as DestinationMessage,
  DestinationsService,
} from '@creditlane/proto/integrations/v1/integrations_service';
import { type Client, connect, type Endpoint } from '@creditlane/rpc/client';
import { serviceIdentity, type TokenSigner } from '@creditlane/rpc/identity';
import type { Closers } from '@creditlane/runtime/closers';
import type { HealthCheckRegistry } from '@creditlane/runtime/health';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { LRUCache } from 'lru-cache';

/** The one name this service signs with and is known by. */
export const SERVICE = 'webhook-dispatcher';

const OURS = serviceIdentity(SERVICE);
const MAX_CACHED = 10_000;
const MAX_IDS_PER_CALL = 1_000;
const MAX_PAIRS_PER_CALL = 250;

/** A destination that is to be told, at the revision it had when that was asked. */
export interface Recipient {
  readonly destinationId: string;
  readonly revision: number;
}

export interface Destination {
  /** Moves on each time that the destination is set. */
  readonly revision: number;
  readonly url: string;
  /** The live secrets, newest first. */
  readonly keys: readonly KeyObject[];
}

interface Lookup {
  readonly promise: Promise<Destination | undefined>;
  readonly resolve: (destination: Destination | undefined) => void;
  readonly reject: (error: unknown) => void;
}

export interface DestinationsOptions {
  readonly target: Endpoint;
  readonly signer: TokenSigner;
  readonly closers: Closers;
  readonly health: HealthCheckRegistry;
  readonly metrics: Metrics;
  /** How long a URL and its secrets count: how late, at most, a change of them takes effect. */
  readonly cacheMs: number;
}

/** Rejects with the peer's Fault when the integrations service is away; nothing of that is kept. */
export class Destinations {
  readonly #client: Client<typeof DestinationsService>;
  readonly #known: LRUCache<string, Promise<Destination | undefined>>;
  #wanted = new Map<string, Lookup>();

  constructor({ target, signer, closers, health, metrics, cacheMs }: DestinationsOptions) {
    this.#client = connect(DestinationsService, target, {
      signer,
      audience: 'integrations',
      closers,
      health,
      metrics,
    });
    // A ttl of 0 would mean for ever.
    this.#known = new LRUCache({ max: MAX_CACHED, ttl: Math.max(1, cacheMs) });
  }

  /**
   * For each pair, in order, all live destinations whose integration may know of either. Asked anew
   * each time: who is left out of an event is left out of it for ever.
   *
   * @param traceparent of the event that is the cause; of many, one stands for all
   */
  async findRecipients(
    pairs: readonly { retailerId: string; creditorId: string }[],
    traceparent: string | undefined,
  ): Promise<readonly (readonly Recipient[])[]> {
    const asked: Promise<Recipient[][]>[] = [];
    for (let from = 0; from < pairs.length; from += MAX_PAIRS_PER_CALL) {
      const request = { pairs: pairs.slice(from, from + MAX_PAIRS_PER_CALL) };
      const answer = this.#client.findRecipients(request, { identity: OURS, traceparent });
      asked.push(answer.then(({ byPair }) => byPair.map(({ recipients }) => recipients)));
    }
    return (await Promise.all(asked)).flat();
  }

  /** As `get`, from an answer that is not older than the question. */
  getAnew(id: string, traceparent: string | undefined): Promise<Destination | undefined> {
    this.#known.delete(id);
    return this.get(id, traceparent);
  }

  /**
   * A destination with its keys; `undefined` when there is no such one any more.
   *
   * @param traceparent of what asks, the cause of a call where it is the first
   */
  get(id: string, traceparent: string | undefined): Promise<Destination | undefined> {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const lookup = Promise.withResolvers<Destination | undefined>();
    lookup.promise.catch(() => this.#known.delete(id));
    this.#known.set(id, lookup.promise);
    // All that are asked for in the same turn go into one call.
    if (this.#wanted.size === 0) setImmediate(() => void this.#askForWanted(traceparent));
    this.#wanted.set(id, lookup);
    return lookup.promise;
  }

  async #askForWanted(traceparent: string | undefined): Promise<void> {
    const wanted = [...this.#wanted];
    this.#wanted = new Map();
    for (let from = 0; from < wanted.length; from += MAX_IDS_PER_CALL) {
      await this.#ask(new Map(wanted.slice(from, from + MAX_IDS_PER_CALL)), traceparent);
    }
  }

  async #ask(lookups: ReadonlyMap<string, Lookup>, traceparent: string | undefined): Promise<void> {
    try {
      const request = { destinationIds: [...lookups.keys()] };
      const context = { identity: OURS, traceparent };
      const { destinations } = await this.#client.getDestinations(request, context);
      const found = new Map(destinations.map((one) => [one.destinationId, toDestination(one)]));
      for (const [id, { resolve }] of lookups) resolve(found.get(id));
    } catch (error) {
      for (const { reject } of lookups.values()) reject(error);
    }
  }
}

function toDestination({ revision, url, secrets }: DestinationMessage): Destination {
  return { revision, url, keys: secrets.map((secret) => createSecretKey(secret)) };
}

/** What the integrations service says of destinations, asked no more often than needed. */
import { createSecretKey, type KeyObject } from 'node:crypto';
import {
  type Destination as DestinationMessage,
  DestinationsService,
} from '@creditlane/proto/integrations/v1/integrations_service';
import { type Client, connect, type Target } from '@creditlane/rpc/client';
import { serviceIdentity, type TokenSigner } from '@creditlane/rpc/identity';
import type { Closers } from '@creditlane/runtime/closers';
import type { Health } from '@creditlane/runtime/health';
import { LRUCache } from 'lru-cache';

/** The one name this service signs with and is known by. */
export const SERVICE = 'webhook-dispatcher';

const MAX_CACHED = 10_000;
const MAX_IDS_PER_CALL = 1_000;

export interface Destination {
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
  readonly target: Target;
  readonly signer: TokenSigner;
  readonly closers: Closers;
  readonly health: Health;
  /** How long an answer counts: how late, at most, a change takes effect. */
  readonly cacheMs: number;
}

/** Rejects with the peer's Fault when the integrations service is away; nothing of that is kept. */
export class Destinations {
  readonly #client: Client<typeof DestinationsService>;
  readonly #context = { identity: serviceIdentity(SERVICE) };
  readonly #granted: LRUCache<string, Promise<readonly string[]>>;
  readonly #known: LRUCache<string, Promise<Destination | undefined>>;
  #wanted = new Map<string, Lookup>();

  constructor({ target, signer, closers, health, cacheMs }: DestinationsOptions) {
    this.#client = connect(DestinationsService, target, {
      signer,
      audience: 'integrations',
      closers,
      health,
    });
    // A ttl of 0 would mean for ever.
    const limits = { max: MAX_CACHED, ttl: Math.max(1, cacheMs) };
    this.#granted = new LRUCache(limits);
    this.#known = new LRUCache(limits);
  }

  /** The ids of all live destinations whose integration may know of this retailer or this creditor. */
  find(retailerId: string, creditorId: string): Promise<readonly string[]> {
    const key = `${retailerId} ${creditorId}`;
    const known = this.#granted.get(key);
    if (known !== undefined) return known;
    const asked = this.#client
      .findDestinations({ retailerId, creditorId }, this.#context)
      .then(({ destinationIds }) => {
        // Nobody to tell is the answer most likely to change, as someone sets out to be told.
        if (destinationIds.length === 0) this.#granted.delete(key);
        return destinationIds;
      });
    asked.catch(() => this.#granted.delete(key));
    this.#granted.set(key, asked);
    return asked;
  }

  /** A destination with its keys; `undefined` when there is no such one any more. */
  get(id: string): Promise<Destination | undefined> {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const lookup = Promise.withResolvers<Destination | undefined>();
    lookup.promise.catch(() => this.#known.delete(id));
    this.#known.set(id, lookup.promise);
    // All that are asked for in the same turn go into one call.
    if (this.#wanted.size === 0) setImmediate(() => void this.#askForWanted());
    this.#wanted.set(id, lookup);
    return lookup.promise;
  }

  async #askForWanted(): Promise<void> {
    const wanted = [...this.#wanted];
    this.#wanted = new Map();
    for (let from = 0; from < wanted.length; from += MAX_IDS_PER_CALL) {
      await this.#ask(new Map(wanted.slice(from, from + MAX_IDS_PER_CALL)));
    }
  }

  async #ask(lookups: ReadonlyMap<string, Lookup>): Promise<void> {
    try {
      const request = { destinationIds: [...lookups.keys()] };
      const { destinations } = await this.#client.getDestinations(request, this.#context);
      const found = new Map(destinations.map((one) => [one.destinationId, toDestination(one)]));
      for (const [id, { resolve }] of lookups) resolve(found.get(id));
    } catch (error) {
      for (const { reject } of lookups.values()) reject(error);
    }
  }
}

function toDestination({ url, secrets }: DestinationMessage): Destination {
  return { url, keys: secrets.map((secret) => createSecretKey(secret)) };
}

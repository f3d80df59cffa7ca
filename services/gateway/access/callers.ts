/** Finds the caller of a request: the integration or the platform key that the Authorization header names. */
import { digestApiKey, isWellFormedApiKey } from '@creditlane/crypto/api-key';
import { Caller as CallerKind } from '@creditlane/proto/common/v1/access';
import type { AccessService } from '@creditlane/proto/integrations/v1/integrations_service';
import type { Client } from '@creditlane/rpc/client';
import { type Fault, internal, toFault, unauthenticated } from '@creditlane/rpc/fault';
import type { RateLimit } from '../limits/request-block.ts';
import { TurnQueue } from '../limits/turn-queue.ts';
import { type CallOptions, sharedCall } from './call-options.ts';
import { cachedLookup } from './lookup-cache.ts';

/** A caller whose key is known. */
export interface Caller {
  /** The id of the integration or of the platform key, or one of all who hold a signed link. */
  readonly id: string;
  readonly kind: 'integration' | 'platform' | 'link';
  readonly permissions: readonly string[];
  readonly keyId: string;
  /** The limit of each key of the integration; undefined where the setting applies. */
  readonly rateLimit: RateLimit | undefined;
}

const BEARER = /^bearer( +|$)/i;
const CACHED_KEYS = 20_000;
const CACHED_UNKNOWN_KEYS = 2_000;
/**
 * Lookups of keys that were never valid, as far as this replica knows. Lookups of keys that were valid do
 * not wait for these. A lookup takes about 1 ms, so the last one waits 0.1 s.
 */
const NEW_KEY_LOOKUPS = {
  maxRunning: 16,
  maxWaiting: 1_000,
  full: 'more keys are being looked up than are taken on at once',
};

export class Callers {
  readonly #access: Client<typeof AccessService>;
  readonly #lookup;
  readonly #newKeys = new TurnQueue(NEW_KEY_LOOKUPS);

  /** The caller of a key, or that the key has none, is cached for `cacheMs`. */
  constructor(access: Client<typeof AccessService>, { cacheMs }: { cacheMs: number }) {
    this.#access = access;
    const lookUp = (key: Key, isKnown: boolean) =>
      isKnown ? this.#authenticate(key) : this.#newKeys.run(() => this.#authenticate(key));
    this.#lookup = cachedLookup(lookUp, {
      ttlMs: cacheMs,
      max: CACHED_KEYS,
      ownerOf: (_key, found) => found?.caller?.id,
      apart: { includes: ({ caller }) => caller === undefined, max: CACHED_UNKNOWN_KEYS },
    });
  }

  /**
   * The caller whose key the header carries, as `Bearer <key>` or bare. Throws an `unauthenticated` Fault
   * when there is none, and an `overloaded` Fault when too many new keys are being looked up. A key with a
   * wrong checksum is refused without a call, and a cached caller is returned without a promise.
   */
  find(authorization: string | undefined, callOptions: CallOptions): Caller | Promise<Caller> {
    const key = authorization?.replace(BEARER, '').trim();
    if (!key) throw unauthenticated('key_missing', 'send your key in the Authorization header');
    if (!isWellFormedApiKey(key)) throw rejected();
    const digest = digestApiKey(key);
    const found = this.#lookup.find(digest.toString('base64'), { digest, callOptions });
    return found instanceof Promise ? found.then(requireCaller) : requireCaller(found);
  }

  /** Later requests look up the keys of the integration, and what it may do. */
  invalidate(integrationId: string): void {
    this.#lookup.invalidate(integrationId);
  }

  async #authenticate({ digest, callOptions }: Key): Promise<Found> {
    try {
      const { callerId, caller, permissions, keyId, rateLimit } = await this.#access.authenticate(
        { keyDigest: digest },
        sharedCall(callOptions),
      );
      return {
        caller: {
          id: callerId,
          kind: kindOf(caller),
          permissions,
          // The last release names no key: its integrations have one quota for all keys.
          keyId: keyId || callerId,
          rateLimit: rateLimit && {
            requests: rateLimit.requests,
            windowMs: rateLimit.windowSeconds * 1_000,
          },
        },
      };
    } catch (error) {
      const fault = toFault(error);
      // The caller's key is refused. The code `token_…` means that the gateway's own token is refused.
      if (fault.kind === 'unauthenticated' && !fault.code.startsWith('token_')) {
        return { caller: undefined };
      }
      throw fault;
    }
  }
}

interface Key {
  digest: Buffer;
  callOptions: CallOptions;
}

interface Found {
  caller: Caller | undefined;
}

function requireCaller({ caller }: Found): Caller {
  if (caller === undefined) throw rejected();
  return caller;
}

function kindOf(caller: CallerKind): Caller['kind'] {
  switch (caller) {
    case CallerKind.INTEGRATION:
      return 'integration';
    case CallerKind.PLATFORM:
      return 'platform';
    default:
      throw internal(new Error(`a caller of the unknown kind ${caller}`));
  }
}

function rejected(): Fault {
  return unauthenticated('key_rejected', 'this key is not known or no longer valid');
}

/** Who is calling: from the Authorization header to an integration or a platform key. */
import { digestApiKey, isWellFormedApiKey } from '@creditlane/crypto/api-key';
import { Caller as CallerKind } from '@creditlane/proto/common/v1/access';
import type { AccessService } from '@creditlane/proto/integrations/v1/integrations_service';
import type { Client } from '@creditlane/rpc/client';
import { type Fault, internal, toFault, unauthenticated } from '@creditlane/rpc/fault';
import { serviceIdentity } from '@creditlane/rpc/identity';
import type { CallLimits } from './call-limits.ts';
import { FreshCache } from './fresh-cache.ts';

/** A caller whose key is known. */
export interface Caller {
  /** The integration's id, or the platform key's own. */
  readonly id: string;
  readonly kind: 'integration' | 'platform';
  readonly permissions: readonly string[];
}

const GATEWAY = serviceIdentity('gateway');
const BEARER = /^bearer +/i;
const CACHED_KEYS = 20_000;

export class Callers {
  readonly #access: Client<typeof AccessService>;
  readonly #known: FreshCache<Caller | undefined>;

  /** What a key opens is remembered for `cacheMs`, and so is that it opens nothing. */
  constructor(access: Client<typeof AccessService>, { cacheMs }: { cacheMs: number }) {
    this.#access = access;
    this.#known = new FreshCache({ ttlMs: cacheMs, max: CACHED_KEYS });
  }

  /**
   * The caller whose key the header carries, as `Bearer <key>` or bare. Throws an `unauthenticated`
   * Fault when there is none; one with a wrong checksum is refused without asking anybody.
   */
  async find(authorization: string | undefined, limits: CallLimits): Promise<Caller> {
    const key = authorization?.replace(BEARER, '').trim();
    if (!key) throw unauthenticated('key_missing', 'send your key in the Authorization header');
    if (!isWellFormedApiKey(key)) throw rejected();
    const digest = digestApiKey(key);
    const caller = await this.#known.get(digest.toString('base64'), () =>
      this.#authenticate(digest, limits),
    );
    if (caller === undefined) throw rejected();
    return caller;
  }

  async #authenticate(keyDigest: Buffer, limits: CallLimits): Promise<Caller | undefined> {
    try {
      const context = { ...limits, identity: GATEWAY };
      const { callerId, caller, permissions } = await this.#access.authenticate(
        { keyDigest },
        context,
      );
      return { id: callerId, kind: kindOf(caller), permissions };
    } catch (error) {
      const fault = toFault(error);
      // The service says so of the key, and as `token_…` of our own identity.
      if (fault.kind === 'unauthenticated' && !fault.code.startsWith('token_')) return undefined;
      throw fault;
    }
  }
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

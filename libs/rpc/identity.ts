/** Who a call is made for, and the short-lived signed token that says so between services. */

import type { KeyObject } from 'node:crypto';
import { type Clock, systemClock } from '@creditlane/runtime/clock';
import { decodeJwt, errors, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import {
  type EncodedKey,
  readPrivateKey,
  readPublicKey,
  type TrustedKeys,
} from './credentials/identity-keys.ts';
import { type Fault, unauthenticated } from './fault.ts';

export { generateIdentityKeys, parseTrustedKeys } from './credentials/identity-keys.ts';

/** The caller of a method. */
export type Identity = {
  readonly kind: 'integration' | 'platform' | 'service';
  /** The integration's or platform key's id, or the service's name. */
  readonly subject: string;
  readonly permissions: readonly string[];
  /** The scope: the one retailer this call may act for. */
  readonly retailerId?: string | undefined;
  /** The scope: the one creditor this call may act for. */
  readonly creditorId?: string | undefined;
};

/** The only issuer that may bring callers from outside; every other speaks for itself alone. */
const FRONT = 'gateway';
const ALGORITHM = 'EdDSA';
const LIFETIME_S = 60;
/** A token is used again for half its life, so it never reaches a service about to expire. */
const REUSE_MS = 30_000;
const CLOCK_TOLERANCE_S = 5;
const CACHED_TOKENS = 10_000;

/** The identity a service has when it calls in its own name. */
export function serviceIdentity(name: string): Identity {
  return Object.freeze({ kind: 'service', subject: name, permissions: Object.freeze([]) });
}

/** Signs identity tokens in one issuer's name. */
export class TokenSigner {
  readonly #issuer: string;
  readonly #key: KeyObject;
  readonly #clock: Clock;
  readonly #signed = new LRUCache<string, { token: Promise<string>; reuseUntilMs: number }>({
    max: CACHED_TOKENS,
  });

  /** `privateKey` is PKCS8 in DER or its base64. Throws an Error when it is not an Ed25519 key. */
  constructor(options: { issuer: string; privateKey: EncodedKey; clock?: Clock }) {
    this.#issuer = options.issuer;
    this.#key = readPrivateKey(options.privateKey);
    this.#clock = options.clock ?? systemClock;
  }

  /** A token for this audience, good for at least another 30 s. */
  sign(audience: string, identity: Identity): Promise<string> {
    const nowMs = this.#clock().getTime();
    const cacheKey = cacheKeyOf(audience, identity);
    const cached = this.#signed.get(cacheKey);
    if (cached !== undefined && cached.reuseUntilMs > nowMs) return cached.token;

    // The promise is kept, so that calls arriving together sign once.
    const token = this.#sign(audience, identity, Math.floor(nowMs / 1000));
    this.#signed.set(cacheKey, { token, reuseUntilMs: nowMs + REUSE_MS });
    token.catch(() => this.#signed.delete(cacheKey));
    return token;
  }

  #sign(audience: string, identity: Identity, nowS: number): Promise<string> {
    const { kind, permissions, retailerId, creditorId } = identity;
    return new SignJWT({ kind, permissions, retailerId, creditorId })
      .setProtectedHeader({ alg: ALGORITHM })
      .setIssuer(this.#issuer)
      .setAudience(audience)
      .setSubject(identity.subject)
      .setIssuedAt(nowS)
      .setExpirationTime(nowS + LIFETIME_S)
      .sign(this.#key);
  }
}

/** Verifies identity tokens made out to one audience. */
export class TokenVerifier {
  readonly #audience: string;
  readonly #keys: ReadonlyMap<string, readonly KeyObject[]>;
  readonly #clock: Clock;
  readonly #verified = new LRUCache<string, { identity: Identity; untilMs: number }>({
    max: CACHED_TOKENS,
  });

  /** Throws an Error that names the issuer whose key cannot be read. */
  constructor(options: { audience: string; trusted: TrustedKeys; clock?: Clock }) {
    this.#audience = options.audience;
    this.#keys = new Map(
      Object.entries(options.trusted).map(([issuer, keys]) => [
        issuer,
        (Array.isArray(keys) ? keys : [keys]).map((key) => readPublicKey(issuer, key)),
      ]),
    );
    this.#clock = options.clock ?? systemClock;
  }

  /** The identity that the token proves. Throws an `unauthenticated` Fault when it proves none. */
  async verify(token: string): Promise<Identity> {
    const nowMs = this.#clock().getTime();
    const cached = this.#verified.get(token);
    if (cached !== undefined && cached.untilMs > nowMs) return cached.identity;

    const payload = await this.#payload(token);
    const identity = identityFrom(payload);
    const untilS = Math.min(payload.exp ?? 0, (payload.iat ?? 0) + LIFETIME_S);
    this.#verified.set(token, { identity, untilMs: untilS * 1000 });
    return identity;
  }

  async #payload(token: string): Promise<JWTPayload> {
    let refusal: unknown;
    for (const key of this.#keys.get(claimedIssuer(token)) ?? []) {
      try {
        const { payload } = await jwtVerify(token, key, {
          audience: this.#audience,
          algorithms: [ALGORITHM],
          requiredClaims: ['iss', 'sub', 'exp', 'iat'],
          maxTokenAge: LIFETIME_S,
          clockTolerance: CLOCK_TOLERANCE_S,
          currentDate: this.#clock(),
        });
        return payload;
      } catch (error) {
        // The signature was right, so no other key will do better.
        if (error instanceof errors.JWTExpired) {
          throw unauthenticated('token_expired', 'the identity token has expired', error);
        }
        refusal = error;
      }
    }
    throw refused(refusal);
  }
}

function cacheKeyOf(audience: string, identity: Identity): string {
  const { kind, subject, permissions, retailerId, creditorId } = identity;
  return JSON.stringify([audience, kind, subject, retailerId, creditorId, permissions]);
}

/** Read before the signature is checked, only to know whose key to check it with. */
function claimedIssuer(token: string): string {
  try {
    return decodeJwt(token).iss ?? '';
  } catch (error) {
    throw refused(error);
  }
}

function identityFrom(payload: JWTPayload): Identity {
  const { iss, sub, permissions, retailerId, creditorId } = payload;
  const kind = kindFrom(payload);
  const listed = Array.isArray(permissions) && permissions.every((it) => typeof it === 'string');
  if (sub === undefined || kind === undefined || !listed) throw refused();
  if (kind === 'service' ? sub !== iss : iss !== FRONT) throw refused();
  // Frozen, because every call with the same token shares it.
  return Object.freeze({
    kind,
    subject: sub,
    permissions: Object.freeze(permissions),
    ...(typeof retailerId === 'string' && { retailerId }),
    ...(typeof creditorId === 'string' && { creditorId }),
  });
}

function kindFrom({ kind }: JWTPayload): Identity['kind'] | undefined {
  return kind === 'integration' || kind === 'platform' || kind === 'service' ? kind : undefined;
}

function refused(cause?: unknown): Fault {
  return unauthenticated('token_invalid', 'the identity token is not valid here', cause);
}

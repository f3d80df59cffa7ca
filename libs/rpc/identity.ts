/** The identity of a caller, and the short-lived signed token that proves it between services. */
import type { KeyObject } from 'node:crypto';
import { type Clock, systemClock } from '@creditlane/runtime/clock';
import { decodeJwt, errors, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import { readPrivateKey, readPublicKey, type TrustedKeys } from './credentials/identity-keys.ts';
import { type Fault, unauthenticated } from './fault.ts';

/** The one retailer and the one creditor that a call may act for. An empty scope covers nothing. */
export type Scope = {
  readonly retailerId?: string | undefined;
  readonly creditorId?: string | undefined;
};

/** The caller of a method, and the scope of the call. That of a verified token has the retailers and the creditor in lower case. */
export type Identity = Scope & {
  readonly kind: 'integration' | 'platform' | 'service';
  /** The id of the integration or platform key, or the name of the service. */
  readonly subject: string;
  readonly permissions: readonly string[];
  /** The retailer of X-Service-Retailer-ID, where the record belongs to another retailer of its group. It permits nothing. */
  readonly retailerContext?: string | undefined;
};

/** The only issuer whose tokens may name an integration or a platform key. Others name themselves. */
const GATEWAY = 'gateway';
const ALGORITHM = 'EdDSA';
const LIFETIME_S = 60;
/** A token is reused for half of its lifetime, so that it does not expire on its way to a service. */
const REUSE_MS = 30_000;
const CLOCK_TOLERANCE_S = 5;
const CACHED_TOKENS = 10_000;

/** The identity of a service that calls in its own name. */
export function serviceIdentity(name: string): Identity {
  return Object.freeze({ kind: 'service', subject: name, permissions: Object.freeze([]) });
}

/** Signs identity tokens in the name of one issuer. */
export class TokenSigner {
  /** The name of the service that signs. */
  readonly issuer: string;
  readonly #encoded: () => string;
  #current: { encoded: string; key: KeyObject };
  readonly #clock: Clock;
  readonly #signed = new LRUCache<string, { token: Promise<string>; signedAtMs: number }>({
    max: CACHED_TOKENS,
  });

  /**
   * `privateKey` is PKCS8 in DER, written in base64, or a function for the current key. Throws an Error unless it is an
   * Ed25519 key.
   */
  constructor(options: {
    issuer: string;
    privateKey: string | (() => string);
    clock?: Clock;
  }) {
    const { issuer, privateKey } = options;
    this.issuer = issuer;
    this.#encoded = typeof privateKey === 'function' ? privateKey : () => privateKey;
    const encoded = this.#encoded();
    this.#current = { encoded, key: readPrivateKey(encoded) };
    this.#clock = options.clock ?? systemClock;
  }

  /** A token for this audience, valid for at least 30 s. */
  sign(audience: string, identity: Identity): Promise<string> {
    this.#renew();
    const nowMs = this.#clock().getTime();
    const cacheKey = cacheKeyOf(audience, identity);
    const cached = this.#signed.get(cacheKey);
    // A token of the future is refused: the clock may have been set back since it was signed.
    const ageMs = nowMs - (cached?.signedAtMs ?? -Infinity);
    if (cached !== undefined && ageMs >= 0 && ageMs < REUSE_MS) return cached.token;

    // The promise is cached, so that concurrent calls sign once.
    const token = this.#sign(audience, identity, Math.floor(nowMs / 1000));
    this.#signed.set(cacheKey, { token, signedAtMs: nowMs });
    token.catch(() => this.#signed.delete(cacheKey));
    return token;
  }

  /** Tokens of the key before are valid until they expire, and are not given out again. */
  #renew(): void {
    const encoded = this.#encoded();
    if (encoded === this.#current.encoded) return;
    this.#current = { encoded, key: readPrivateKey(encoded) };
    this.#signed.clear();
  }

  #sign(audience: string, identity: Identity, nowS: number): Promise<string> {
    const { kind, permissions, retailerId, retailerContext, creditorId } = identity;
    return new SignJWT({ kind, permissions, retailerId, retailerContext, creditorId })
      .setProtectedHeader({ alg: ALGORITHM })
      .setIssuer(this.issuer)
      .setAudience(audience)
      .setSubject(identity.subject)
      .setIssuedAt(nowS)
      .setExpirationTime(nowS + LIFETIME_S)
      .sign(this.#current.key);
  }
}

/** Verifies the identity tokens of one audience. */
export class TokenVerifier {
  readonly #audience: string;
  readonly #trusted: () => TrustedKeys;
  #current: { trusted: TrustedKeys; keys: ReadonlyMap<string, readonly KeyObject[]> };
  readonly #clock: Clock;
  readonly #verified = new LRUCache<string, { identity: Identity; untilMs: number }>({
    max: CACHED_TOKENS,
  });

  /** `trusted` may be a function for the current keys. Throws an Error that names the issuer whose key cannot be read. */
  constructor(options: {
    audience: string;
    trusted: TrustedKeys | (() => TrustedKeys);
    clock?: Clock;
  }) {
    const { audience, trusted } = options;
    this.#audience = audience;
    this.#trusted = typeof trusted === 'function' ? trusted : () => trusted;
    this.#current = { trusted: this.#trusted(), keys: readKeys(this.#trusted()) };
    this.#clock = options.clock ?? systemClock;
  }

  /** The identity in a token. Throws an `unauthenticated` Fault unless the token is valid. */
  async verify(token: string): Promise<Identity> {
    this.#renew();
    const nowMs = this.#clock().getTime();
    const cached = this.#verified.get(token);
    if (cached !== undefined && cached.untilMs > nowMs) return cached.identity;

    const verifiedWith = this.#current;
    const payload = await this.#payload(token);
    const identity = identityFrom(payload);
    const untilS = Math.min(payload.exp ?? 0, (payload.iat ?? 0) + LIFETIME_S);
    // Keys that have been replaced since may no longer be trusted.
    if (verifiedWith === this.#current) {
      this.#verified.set(token, { identity, untilMs: untilS * 1000 });
    }
    return identity;
  }

  /** A token of a key that is no longer trusted is refused at once. */
  #renew(): void {
    const trusted = this.#trusted();
    if (trusted === this.#current.trusted) return;
    this.#current = { trusted, keys: readKeys(trusted) };
    this.#verified.clear();
  }

  async #payload(token: string): Promise<JWTPayload> {
    let lastError: unknown;
    for (const key of this.#current.keys.get(claimedIssuer(token)) ?? []) {
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
        // The signature is verified before the expiry, so no other key fits.
        if (error instanceof errors.JWTExpired) {
          throw unauthenticated('token_expired', 'the identity token has expired', error);
        }
        lastError = error;
      }
    }
    throw invalidToken(lastError);
  }
}

function readKeys(trusted: TrustedKeys): ReadonlyMap<string, readonly KeyObject[]> {
  return new Map(
    Object.entries(trusted).map(([issuer, keys]) => [
      issuer,
      (Array.isArray(keys) ? keys : [keys]).map((key) => readPublicKey(issuer, key)),
    ]),
  );
}

function cacheKeyOf(audience: string, identity: Identity): string {
  const { kind, subject, permissions, retailerId, retailerContext, creditorId } = identity;
  const scope = [retailerId, retailerContext, creditorId];
  return JSON.stringify([audience, kind, subject, ...scope, permissions]);
}

/** The issuer that the unverified token names; it only selects the keys to verify the token with. */
function claimedIssuer(token: string): string {
  try {
    return decodeJwt(token).iss ?? '';
  } catch (error) {
    throw invalidToken(error);
  }
}

function identityFrom(payload: JWTPayload): Identity {
  const { iss, sub, permissions, retailerId, retailerContext, creditorId } = payload;
  const kind = kindFrom(payload);
  const isList = Array.isArray(permissions) && permissions.every((it) => typeof it === 'string');
  if (sub === undefined || kind === undefined || !isList) throw invalidToken();
  if (kind === 'service' ? sub !== iss : iss !== GATEWAY) throw invalidToken();
  // Frozen, because all calls with the same token share the object.
  return Object.freeze({
    kind,
    subject: sub,
    permissions: Object.freeze(permissions),
    ...(typeof retailerId === 'string' && { retailerId: retailerId.toLowerCase() }),
    ...(typeof retailerContext === 'string' && { retailerContext: retailerContext.toLowerCase() }),
    ...(typeof creditorId === 'string' && { creditorId: creditorId.toLowerCase() }),
  });
}

function kindFrom({ kind }: JWTPayload): Identity['kind'] | undefined {
  return kind === 'integration' || kind === 'platform' || kind === 'service' ? kind : undefined;
}

function invalidToken(cause?: unknown): Fault {
  return unauthenticated(
    'token_invalid',
    'the identity token is not valid for this service',
    cause,
  );
}

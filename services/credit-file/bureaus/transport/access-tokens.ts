/** Access tokens of bureaus: asked for once per credentials, by one request at a time, and kept until they end. */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Dispatcher } from 'undici';
import type { BureauRequest } from '../bureau.ts';
import { decodeBody } from './answer-body.ts';
import { Exchange, type ExchangeEnd } from './exchange.ts';
import { type NeverSent, neverSent, neverSentAfter } from './inquiry-outcome.ts';

export interface Token {
  readonly kind: 'token';
  readonly token: string;
  /** Whether an earlier inquiry has asked for it. */
  readonly isKept: boolean;
}

export type TokenOutcome = Token | NeverSent;

interface KeptToken {
  readonly token: string;
  readonly endsAtMs: number;
}

export interface AccessTokensOptions {
  readonly dispatcher: Dispatcher;
  readonly timeoutMs: number;
  /** Of a monotonic clock. */
  readonly nowMs: () => number;
}

const MAX_TOKENS = 1_000;
/** Of the bytes sent, and of those decoded. */
const MAX_ANSWER_BYTES = 64 * 1_024;
/** A token is not used in its last minute, nor in the last tenth of its lifetime. */
const MARGIN_MS = 60_000;
const MARGIN_SHARE = 0.1;
/** A token is used no longer, even if the bureau's answer gives it a longer lifetime. */
const MAX_LIFETIME_MS = 86_400_000;
/** RFC 6750, 2.1. */
const TOKEN = /^[A-Za-z0-9._~+/-]{1,8192}=*$/;

export class AccessTokens {
  readonly #options: AccessTokensOptions;
  /** By the digest of the request, which holds the credentials: other credentials never get the token. */
  readonly #kept = new LRUCache<string, KeptToken>({ max: MAX_TOKENS });
  readonly #underWay = new Map<string, Promise<TokenOutcome>>();
  readonly #exchanges = new Set<Exchange>();

  constructor(options: AccessTokensOptions) {
    this.#options = options;
  }

  /** The kept token, or a new one. Calls with equal requests share one request. Never rejects. */
  get(request: BureauRequest): Promise<TokenOutcome> {
    const key = keyOf(request);
    const kept = this.#kept.get(key);
    if (kept !== undefined && this.#options.nowMs() < kept.endsAtMs) {
      return Promise.resolve({ kind: 'token', token: kept.token, isKept: true });
    }
    const running = this.#underWay.get(key);
    if (running !== undefined) return running;
    const started = this.#fetch(key, request).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, started);
    return started;
  }

  /** Forgets a token that the bureau rejected, unless another one has replaced it. */
  forget(request: BureauRequest, token: string): void {
    const key = keyOf(request);
    if (this.#kept.peek(key)?.token === token) this.#kept.delete(key);
  }

  /** Ends the requests under way. */
  stop(): void {
    for (const exchange of this.#exchanges) exchange.abort('stopping');
  }

  async #fetch(key: string, request: BureauRequest): Promise<TokenOutcome> {
    const { timeoutMs, nowMs, dispatcher } = this.#options;
    const requestedAtMs = nowMs();
    const endsAtMs = requestedAtMs + timeoutMs;
    const limits = { sendByMs: endsAtMs, endsAtMs, maxAnswerBytes: MAX_ANSWER_BYTES };
    const exchange = new Exchange(limits, nowMs);
    this.#exchanges.add(exchange);
    const end = await exchange.run(dispatcher, request);
    this.#exchanges.delete(exchange);
    const read = await tokenOf(end);
    if (read.kind === 'never_sent') return read;
    const { token, lifetimeMs } = read;
    const marginMs = Math.max(MARGIN_MS, lifetimeMs * MARGIN_SHARE);
    if (lifetimeMs > marginMs) {
      this.#kept.set(key, { token, endsAtMs: requestedAtMs + lifetimeMs - marginMs });
    }
    return { kind: 'token', token, isKept: false };
  }
}

interface ReadToken {
  readonly kind: 'token';
  readonly token: string;
  readonly lifetimeMs: number;
}

/** Reads the answer of RFC 6749, 5. A lost answer to a token request is no inquiry, so nothing is unknown. */
async function tokenOf(end: ExchangeEnd): Promise<ReadToken | NeverSent> {
  if (end.kind === 'unsent') return neverSentAfter(end.error);
  if (end.kind === 'lost') {
    return neverSent(end.reason === 'stopping' ? 'stopping' : 'token_failed');
  }
  const { status } = end.answer;
  if (status === 400 || status === 401 || status === 403) return neverSent('token_refused');
  if (status !== 200) return neverSent('token_failed');
  const decoded = await decodeBody(end.answer, MAX_ANSWER_BYTES);
  return (decoded.kind === 'decoded' && readToken(decoded.body)) || neverSent('token_failed');
}

function readToken(body: Uint8Array): ReadToken | undefined {
  let answer: unknown;
  try {
    answer = JSON.parse(Buffer.from(body).toString());
  } catch {
    return undefined;
  }
  if (typeof answer !== 'object' || answer === null) return undefined;
  const { access_token: token, expires_in: seconds } = answer as Record<string, unknown>;
  if (typeof token !== 'string' || !TOKEN.test(token)) return undefined;
  const lifetimeMs = Number(seconds ?? 0) * 1_000;
  return {
    kind: 'token',
    token,
    lifetimeMs: lifetimeMs > 0 ? Math.min(lifetimeMs, MAX_LIFETIME_MS) : 0,
  };
}

function keyOf({ url, headers, body }: BureauRequest): string {
  return createHash('sha256')
    .update(JSON.stringify([url, headers, body]))
    .digest('base64');
}

/**
 * Sends inquiries to one bureau, each at most once, and tells what became of them. An inquiry that a bureau
 * got twice is a second hard inquiry in a consumer's file, so nothing is sent again unless it is certain
 * that the bureau made no inquiry.
 */
import { EgressDeniedError } from '@creditlane/egress-rules/destination-url';
import { nameServers, type Resolve } from '@creditlane/egress-rules/guarded-lookup';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { LRUCache } from 'lru-cache';
import { Agent, buildConnector } from 'undici';
import { malformed, readAnswer } from '../answer/read-answer.ts';
import type { AnyCredentials, BureauFormat, BureauRequest, Inquiry } from '../bureau.ts';
import { AccessTokens, type Token } from './access-tokens.ts';
import { charsetOf, decodeBody } from './answer-body.ts';
import { outcomeOfAnswer, rejectsToken } from './answer-outcome.ts';
import { type BureauHostRules, bureauLookup, checkBureauUrl } from './bureau-hosts.ts';
import { BureauMetrics, outcomeLabels } from './bureau-metrics.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import { type CertificateFiles, connectorWithCertificate } from './client-certificate.ts';
import { ConnectionTurns } from './connection-turns.ts';
import { Exchange, type ExchangeEnd, type HttpAnswer } from './exchange.ts';
import {
  type InquiryOutcome,
  NotSentError,
  neverSent,
  neverSentAfter,
  verdictOf,
  type Withdrawn,
} from './inquiry-outcome.ts';
import { watchRefusals } from './refused-certificate.ts';

export interface BureauClientOptions<Credentials extends AnyCredentials> {
  readonly format: BureauFormat<Credentials>;
  readonly hostRules: BureauHostRules;
  /** How long an inquiry may take once it has its access token and its turn. It waits for these half as long. */
  readonly deadlineMs: number;
  /** The most connections to one base URL, without those for access tokens. */
  readonly maxConnections: number;
  /** How many failures in a row at one base URL open its circuit breaker. */
  readonly failuresToOpen: number;
  readonly log: Log;
  readonly metrics: Metrics;
  /** PEM of further authorities whose certificates bureaus may have. */
  readonly ca?: string | undefined;
  /** What the bureau demands of its clients, if anything. */
  readonly clientCertificate?: CertificateFiles | undefined;
  readonly resolve?: Resolve;
  /** Of a monotonic clock. */
  readonly nowMs?: () => number;
}

/** The most connections to one base URL for access tokens, which are asked for once for all inquiries of a retailer. */
const TOKEN_CONNECTIONS = 2;
const CONNECT_TIMEOUT_MS = 5_000;
/** Shorter than the idle timeouts of common servers and gateways, the shortest of which is 5 s. */
const KEEP_ALIVE_MS = 4_000;
/** The most that a server's `Keep-Alive: timeout` extends it to; undici ends 2 s before that time. */
const KEEP_ALIVE_MAX_MS = 30_000;
/** An answer with 200 trades has about 0.3 MiB. The limit is that of the bytes sent and of those decoded. */
const MAX_ANSWER_BYTES = 8 * 1_024 * 1_024;
const MAX_HEADER_BYTES = 16 * 1_024;
const MAX_BASE_URLS = 1_000;
/** How often a request may lose its connection before its first byte, such as an idle one that was reset. */
const MAX_UNSENT = 3;

/** An inquiry that is to be made once nothing is before it. */
export interface PendingInquiry<Instead> {
  readonly reference: string;
  /** Resolves to `instead`, what the caller does, when the inquiry must not be made. */
  prepare(): Promise<PreparedInquiry | { readonly instead: Instead }>;
}

export interface PreparedInquiry {
  readonly inquiry: Inquiry;
  /** When its caller began to record that it is about to be sent, of the client's clock. Its deadline counts from then. */
  readonly markedMs: number;
}

/** The times of an inquiry, of the client's clock. */
interface Deadline {
  /** An inquiry that was not sent by then is never sent: too little time is left for its answer. */
  readonly sendByMs: number;
  readonly endsAtMs: number;
}

/** How a request is made of an inquiry, with an access token where the transport needs one. */
type MakeRequest = (inquiry: Inquiry, token?: string) => BureauRequest;

/** What decides at one origin whether and when an inquiry is sent. */
interface OriginState {
  readonly breaker: CircuitBreaker;
  readonly turns: ConnectionTurns;
}

type SentOutcome = { outcome: InquiryOutcome; http?: HttpAnswer };

export class BureauClient<Credentials extends AnyCredentials> {
  readonly #options: BureauClientOptions<Credentials>;
  readonly #nowMs: () => number;
  readonly #agent: Agent;
  /** Apart, so that no token request has a connection that an inquiry has its turn for. */
  readonly #tokenAgent: Agent;
  readonly #tokens: AccessTokens;
  readonly #metrics: BureauMetrics;
  readonly #origins = new LRUCache<string, OriginState>({ max: MAX_BASE_URLS });
  readonly #exchanges = new Set<Exchange>();
  readonly #underWay = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;

  constructor(options: BureauClientOptions<Credentials>) {
    const { format, deadlineMs, maxConnections, metrics } = options;
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
    const connections: Agent.Options = {
      connections: maxConnections,
      maxOrigins: MAX_BASE_URLS,
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MAX_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      connect: connectorOf(options),
    };
    this.#agent = new Agent(connections);
    this.#tokenAgent = new Agent({ ...connections, connections: TOKEN_CONNECTIONS });
    const sendWithinMs = deadlineMs / 2;
    this.#tokens = new AccessTokens({
      dispatcher: this.#tokenAgent,
      timeoutMs: sendWithinMs,
      nowMs: this.#nowMs,
    });
    const states = () => [...this.#origins.values()].map(({ breaker }) => breaker.state);
    this.#metrics = new BureauMetrics(metrics, format.source, states);
  }

  /**
   * Makes an inquiry and resolves to what became of it. `prepare` is called when the access token is there and no other
   * inquiry is before this one: only opening a connection lies between what it finds and the first byte. Half of the
   * deadline is for the time before, and the whole deadline begins with the mark that `prepare` makes. Rejects when
   * `prepare` rejects.
   */
  async inquire<Instead>(
    pending: PendingInquiry<Instead>,
    credentials: Credentials,
  ): Promise<InquiryOutcome | Withdrawn<Instead>> {
    const startedMs = this.#nowMs();
    const running = this.#inquire(pending, credentials, startedMs);
    this.#underWay.add(running);
    const outcome = await running.finally(() => this.#underWay.delete(running));
    if (outcome.kind === 'withdrawn') return outcome;
    const durationMs = Math.round(this.#nowMs() - startedMs);
    this.#metrics.observe(outcome, durationMs);
    const { format, log } = this.#options;
    const { reference } = pending;
    const fields = {
      source: format.source,
      reference,
      durationMs,
      ...outcomeLabels(outcome),
      err: outcome.kind === 'never_sent' ? outcome.error : undefined,
    };
    log[outcome.kind === 'answered' ? 'info' : 'warn'](fields, 'inquiry ended');
    return outcome;
  }

  /** Sends no further inquiry. Resolves when those that were sent have ended, within the deadline. */
  close(): Promise<void> {
    this.#closing ??= this.#drain();
    return this.#closing;
  }

  async #drain(): Promise<void> {
    this.#tokens.stop();
    for (const { turns } of this.#origins.values()) turns.stop();
    for (const exchange of this.#exchanges) exchange.abortUnsent('stopping');
    await Promise.allSettled(this.#underWay);
    await Promise.all([this.#agent.destroy(), this.#tokenAgent.destroy()]);
  }

  async #inquire<Instead>(
    pending: PendingInquiry<Instead>,
    credentials: Credentials,
    startedMs: number,
  ): Promise<InquiryOutcome | Withdrawn<Instead>> {
    const { format, hostRules, deadlineMs } = this.#options;
    if (this.#closing !== undefined) return neverSent('stopping');
    const makeRequest: MakeRequest = (inquiry, token) => {
      const request = format.makeRequest(inquiry, credentials, token);
      checkBureauUrl(request.url, hostRules);
      return request;
    };
    let tokenRequest: BureauRequest | undefined;
    let origin: string;
    try {
      tokenRequest = format.makeTokenRequest(credentials);
      if (tokenRequest !== undefined) checkBureauUrl(tokenRequest.url, hostRules);
      const { baseUrl } = credentials;
      checkBureauUrl(baseUrl, hostRules);
      origin = new URL(baseUrl).origin;
    } catch (error) {
      return this.#notMade(error);
    }
    const { breaker, turns } = this.#stateOf(origin);
    const admission = breaker.admit();
    if (admission === undefined) return neverSent('breaker_open');
    const turnByMs = startedMs + deadlineMs / 2;
    let outcome: InquiryOutcome | Withdrawn<Instead> | undefined;
    try {
      outcome = await this.#sendInTurn(turns, turnByMs, pending, makeRequest, tokenRequest);
      return outcome;
    } finally {
      if (outcome === undefined || outcome.kind === 'withdrawn') admission('nothing');
      else admission(verdictOf(outcome));
    }
  }

  /** Gets the access token, waits for the turn, and sends the inquiry if it may still be made. */
  async #sendInTurn<Instead>(
    turns: ConnectionTurns,
    turnByMs: number,
    pending: PendingInquiry<Instead>,
    makeRequest: MakeRequest,
    tokenRequest: BureauRequest | undefined,
  ): Promise<InquiryOutcome | Withdrawn<Instead>> {
    // Before the turn: an inquiry that waits for its token keeps no turn from those that have one.
    const token = tokenRequest && (await this.#tokens.get(tokenRequest));
    if (token?.kind === 'never_sent') return token;
    try {
      return await turns.run(turnByMs - this.#nowMs(), async () => {
        const prepared = await pending.prepare();
        if ('instead' in prepared) return { kind: 'withdrawn', ...prepared } as const;
        return this.#send(prepared, makeRequest, tokenRequest, token);
      });
    } catch (error) {
      if (error instanceof NotSentError) return neverSentAfter(error);
      throw error;
    }
  }

  /** Sends the inquiry. One that is turned away for its kept token was not made, and gets a new token when it is made again. */
  async #send(
    { inquiry, markedMs }: PreparedInquiry,
    makeRequest: MakeRequest,
    tokenRequest: BureauRequest | undefined,
    token: Token | undefined,
  ): Promise<InquiryOutcome> {
    const { deadlineMs } = this.#options;
    const deadline = { sendByMs: markedMs + deadlineMs / 2, endsAtMs: markedMs + deadlineMs };
    const makeThis = () => makeRequest(inquiry, token?.token);
    const { outcome, http } = await this.#post(inquiry, makeThis, deadline);
    if (tokenRequest === undefined || token === undefined || http?.status !== 401) return outcome;
    this.#tokens.forget(tokenRequest, token.token);
    return token.isKept && rejectsToken(http) ? neverSent('token_rejected') : outcome;
  }

  async #post(
    inquiry: Inquiry,
    makeRequest: () => BureauRequest,
    deadline: Deadline,
  ): Promise<SentOutcome> {
    let request: BureauRequest;
    try {
      request = makeRequest();
    } catch (error) {
      return { outcome: this.#notMade(error) };
    }
    let end = await this.#exchange(request, deadline);
    for (let unsent = 1; isLostUnsent(end) && unsent < MAX_UNSENT; unsent += 1) {
      end = await this.#exchange(request, deadline);
    }
    if (end.kind === 'unsent') return { outcome: neverSentAfter(end.error) };
    if (end.kind === 'lost') return { outcome: { kind: 'unknown', reason: end.reason } };
    const decoded = await decodeBody(end.answer, MAX_ANSWER_BYTES);
    if (decoded.kind === 'too_large') {
      return { outcome: { kind: 'unknown', reason: 'answer_too_large' } };
    }
    const answer =
      decoded.kind === 'decoded'
        ? readAnswer(decoded.body, this.#options.format, inquiry, charsetOf(end.answer))
        : malformed('The content encoding of the answer cannot be read.');
    return { outcome: outcomeOfAnswer(end.answer, answer), http: end.answer };
  }

  async #exchange(request: BureauRequest, deadline: Deadline): Promise<ExchangeEnd> {
    const limits = { ...deadline, maxAnswerBytes: MAX_ANSWER_BYTES };
    const exchange = new Exchange(limits, this.#nowMs);
    if (this.#closing !== undefined) exchange.abort('stopping');
    this.#exchanges.add(exchange);
    const end = await exchange.run(this.#agent, request);
    this.#exchanges.delete(exchange);
    return end;
  }

  #notMade(error: unknown): InquiryOutcome {
    if (error instanceof EgressDeniedError) return neverSentAfter(error);
    this.#options.log.error({ err: error }, 'the request of an inquiry could not be made');
    return neverSent('request_invalid');
  }

  #stateOf(origin: string): OriginState {
    const existing = this.#origins.get(origin);
    if (existing !== undefined) return existing;
    const { failuresToOpen, maxConnections } = this.#options;
    const state = {
      breaker: new CircuitBreaker(failuresToOpen, this.#nowMs),
      turns: new ConnectionTurns(maxConnections),
    };
    this.#origins.set(origin, state);
    return state;
  }
}

function connectorOf({
  hostRules,
  resolve = nameServers(),
  ca,
  clientCertificate,
  log,
}: BureauClientOptions<AnyCredentials>): buildConnector.connector {
  const options: buildConnector.BuildOptions = {
    lookup: bureauLookup(hostRules, resolve),
    timeout: CONNECT_TIMEOUT_MS,
    // In HTTP/2 a connection's end leaves open which of its requests were read.
    allowH2: false,
    // Also when NODE_TLS_REJECT_UNAUTHORIZED is 0.
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    // Node checks no certificate when a session is continued.
    maxCachedSessions: 0,
    ...(ca !== undefined && { ca }),
  };
  return watchRefusals(
    clientCertificate === undefined
      ? buildConnector(options)
      : connectorWithCertificate(clientCertificate, options, log),
  );
}

/**
 * Whether a connection was lost before it took the first byte, such as an idle one that the bureau reset:
 * another connection may take the request.
 */
function isLostUnsent(end: ExchangeEnd): boolean {
  if (end.kind !== 'unsent' || !('code' in end.error)) return false;
  return ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(String(end.error.code));
}

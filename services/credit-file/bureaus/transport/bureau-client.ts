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
import type { BureauAnswer, BureauFormat, BureauRequest, Inquiry } from '../bureau.ts';
import { AccessTokens } from './access-tokens.ts';
import { charsetOf, decodeBody } from './answer-body.ts';
import { outcomeOfAnswer, rejectsToken } from './answer-outcome.ts';
import { type BureauHostRules, bureauLookup, checkBureauUrl } from './bureau-hosts.ts';
import { BureauMetrics, outcomeLabels } from './bureau-metrics.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import { type CertificateFiles, connectorWithCertificate } from './client-certificate.ts';
import { Exchange, type ExchangeEnd, type HttpAnswer } from './exchange.ts';
import {
  type InquiryOutcome,
  type NeverSentReason,
  neverSentAfter,
  verdictOf,
} from './inquiry-outcome.ts';
import { watchRefusals } from './refused-certificate.ts';

export interface BureauClientOptions<Credentials> {
  readonly format: BureauFormat<Credentials>;
  readonly hostRules: BureauHostRules;
  /** A whole inquiry, with its access token. */
  readonly deadlineMs: number;
  /** The most connections to one base URL. */
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

const CONNECT_TIMEOUT_MS = 5_000;
/** Shorter than the idle time of common servers and gateways, which are 5 s and more. */
const KEEP_ALIVE_MS = 4_000;
/** The most that a server's `Keep-Alive: timeout` extends it to; undici ends 2 s before that time. */
const KEEP_ALIVE_MAX_MS = 30_000;
/** An answer with 200 trades has about 0.3 MiB. The limit is that of the bytes sent and of those decoded. */
const MAX_ANSWER_BYTES = 8 * 1_024 * 1_024;
const MAX_HEADER_BYTES = 16 * 1_024;
const MAX_BASE_URLS = 1_000;
/** How often a request may lose its connection before its first byte, such as an idle one that was reset. */
const MAX_UNSENT = 3;

/** The times of an inquiry, of the client's clock. */
interface Deadline {
  /** An inquiry that was not sent by then is never sent: too little time is left for its answer. */
  readonly sendByMs: number;
  readonly endsAtMs: number;
}

type SentOutcome = { outcome: InquiryOutcome; http?: HttpAnswer };

export class BureauClient<Credentials> {
  readonly #options: BureauClientOptions<Credentials>;
  readonly #nowMs: () => number;
  readonly #agent: Agent;
  readonly #tokens: AccessTokens;
  readonly #metrics: BureauMetrics;
  readonly #breakers = new LRUCache<string, CircuitBreaker>({ max: MAX_BASE_URLS });
  readonly #exchanges = new Set<Exchange>();
  readonly #underWay = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;

  constructor(options: BureauClientOptions<Credentials>) {
    const { format, deadlineMs, maxConnections, metrics } = options;
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#agent = new Agent({
      connections: maxConnections,
      maxOrigins: MAX_BASE_URLS,
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MAX_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      connect: connectorOf(options),
    });
    const sendWithinMs = deadlineMs / 2;
    this.#tokens = new AccessTokens({
      dispatcher: this.#agent,
      timeoutMs: sendWithinMs,
      nowMs: this.#nowMs,
    });
    const states = () => [...this.#breakers.values()].map(({ state }) => state);
    this.#metrics = new BureauMetrics(metrics, format.source, states);
  }

  /** Makes an inquiry and resolves to what became of it, within the deadline. */
  async inquire(inquiry: Inquiry, credentials: Credentials): Promise<InquiryOutcome> {
    const startedMs = this.#nowMs();
    const running = this.#inquire(inquiry, credentials, startedMs);
    this.#underWay.add(running);
    const outcome = await running.finally(() => this.#underWay.delete(running));
    const durationMs = Math.round(this.#nowMs() - startedMs);
    this.#metrics.observe(outcome, durationMs);
    const { format, log } = this.#options;
    const { reference } = inquiry;
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
    for (const exchange of this.#exchanges) exchange.abortUnsent('stopping');
    await Promise.allSettled(this.#underWay);
    await this.#agent.destroy();
  }

  async #inquire(
    inquiry: Inquiry,
    credentials: Credentials,
    startedMs: number,
  ): Promise<InquiryOutcome> {
    const { format, hostRules, deadlineMs } = this.#options;
    if (this.#closing !== undefined) return neverSent('stopping');
    const deadline = { sendByMs: startedMs + deadlineMs / 2, endsAtMs: startedMs + deadlineMs };
    const makeRequest = (token?: string) => {
      const request = format.makeRequest(inquiry, credentials, token);
      checkBureauUrl(request.url, hostRules);
      return request;
    };
    let tokenRequest: BureauRequest | undefined;
    let origin: string;
    try {
      tokenRequest = format.makeTokenRequest(credentials);
      const { url } = tokenRequest ?? makeRequest();
      checkBureauUrl(url, hostRules);
      origin = new URL(url).origin;
    } catch (error) {
      return this.#notMade(error);
    }
    const admission = this.#breakerOf(origin).admit();
    if (admission === undefined) return neverSent('breaker_open');
    let outcome: InquiryOutcome | undefined;
    try {
      outcome = await this.#send(makeRequest, tokenRequest, deadline);
      return outcome;
    } finally {
      admission(outcome === undefined ? 'nothing' : verdictOf(outcome));
    }
  }

  /** Sends the inquiry; once more with a new token only if it was turned away for its kept token. */
  async #send(
    makeRequest: (token?: string) => BureauRequest,
    tokenRequest: BureauRequest | undefined,
    deadline: Deadline,
  ): Promise<InquiryOutcome> {
    if (tokenRequest === undefined)
      return (await this.#post(makeRequest, undefined, deadline)).outcome;
    const first = await this.#tokens.get(tokenRequest);
    if (first.kind === 'never_sent') return first;
    const sent = await this.#post(makeRequest, first.token, deadline);
    if (sent.http?.status === 401) this.#tokens.forget(tokenRequest, first.token);
    if (!first.isKept || sent.http === undefined || !rejectsToken(sent.http)) return sent.outcome;
    const second = await this.#tokens.get(tokenRequest);
    if (second.kind === 'never_sent') return second;
    return (await this.#post(makeRequest, second.token, deadline)).outcome;
  }

  async #post(
    makeRequest: (token?: string) => BureauRequest,
    token: string | undefined,
    deadline: Deadline,
  ): Promise<SentOutcome> {
    let request: BureauRequest;
    try {
      request = makeRequest(token);
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
        ? this.#read(end.answer, decoded.body)
        : malformed('The content encoding of the answer cannot be read.');
    return { outcome: outcomeOfAnswer(end.answer, answer), http: end.answer };
  }

  /** A format that fails must not hide that the inquiry was made. */
  #read(http: HttpAnswer, body: Uint8Array): BureauAnswer {
    const { format, log } = this.#options;
    try {
      return format.readAnswer(http.status, body, charsetOf(http));
    } catch (error) {
      log.error({ err: error, source: format.source }, 'the answer of a bureau could not be read');
      return malformed('The answer could not be read.');
    }
  }

  async #exchange(request: BureauRequest, deadline: Deadline): Promise<ExchangeEnd> {
    const nowMs = this.#nowMs();
    const exchange = new Exchange({
      sendWithinMs: deadline.sendByMs - nowMs,
      deadlineMs: deadline.endsAtMs - nowMs,
      maxAnswerBytes: MAX_ANSWER_BYTES,
    });
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

  #breakerOf(origin: string): CircuitBreaker {
    const existing = this.#breakers.get(origin);
    if (existing !== undefined) return existing;
    const breaker = new CircuitBreaker(this.#options.failuresToOpen, this.#nowMs);
    this.#breakers.set(origin, breaker);
    return breaker;
  }
}

function connectorOf({
  hostRules,
  resolve = nameServers(),
  ca,
  clientCertificate,
  log,
}: BureauClientOptions<unknown>): buildConnector.connector {
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

function neverSent(reason: NeverSentReason): InquiryOutcome {
  return { kind: 'never_sent', reason };
}

function malformed(problem: string): BureauAnswer {
  return { kind: 'malformed', problem };
}

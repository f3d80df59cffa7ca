/** The way of every request: route, key, limit, parameters, body, access, handler, answer. */
import { invalid, notFound } from '@creditlane/rpc/fault';
import { acceptedRequestId } from '@creditlane/rpc/request-id';
import { acceptedTraceparent, newTraceparent } from '@creditlane/runtime/telemetry/traceparent';
import { startSpan } from '@creditlane/runtime/telemetry/tracing';
import type { Context } from 'koa';
import type { Access } from './access.ts';
import type { CallLimits } from './call-limits.ts';
import type { Caller, Callers } from './callers.ts';
import type { Page } from './docs.ts';
import { errorAnswer, PROBLEM_TYPE } from './errors.ts';
import { clientFault, type Handler } from './handler.ts';
import { answerAndHangUp, hasEndlessBody } from './hang-up.ts';
import { readJsonBody } from './json-body.ts';
import type { Operation } from './operation.ts';
import type { RateLimit } from './rate-limit.ts';
import type { Exchange, RequestRecord } from './request-record.ts';
import type { Routes } from './routes.ts';
import type { RawParameters, Validator } from './validation.ts';
import type { Workload } from './workload.ts';

/** What a route leads to. */
export type RouteTarget =
  | { kind: 'operation'; operation: Operation; validator: Validator; handler: Handler }
  | { kind: 'page'; page: Page };

export interface RequestHandlerDeps {
  routes: Routes<RouteTarget>;
  callers: Callers;
  access: Access;
  rateLimit: RateLimit;
  workload: Workload;
  record: RequestRecord;
  deadlineMs: number;
}

const SECURITY_HEADERS = Object.entries({
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=31536000; includeSubDomains',
  'X-Content-Type-Options': 'nosniff',
});

const JSON_TYPE = 'application/json; charset=utf-8';
const NO_BODY = Object.freeze({});

/** Serves one request after another; nothing that goes wrong leaves it. */
export class RequestHandler {
  readonly #deps: RequestHandlerDeps;

  constructor(deps: RequestHandlerDeps) {
    this.#deps = deps;
  }

  async handle(ctx: Context): Promise<void> {
    const { req, res } = ctx;
    const exchange: Exchange = {
      startedMs: performance.now(),
      method: req.method ?? '',
      requestId: acceptedRequestId(req.headers['x-request-id']),
      traceparent: acceptedTraceparent(req.headers.traceparent),
      span: undefined,
      operation: undefined,
      caller: undefined,
      code: undefined,
      cause: undefined,
    };
    res.setHeader('X-Request-Id', exchange.requestId);
    for (const [name, value] of SECURITY_HEADERS) res.setHeader(name, value);
    let status: number;
    try {
      await this.#serve(ctx, exchange);
      status = ctx.status;
    } catch (error) {
      status = fail(ctx, exchange, error);
    }
    this.#deps.record.keep(exchange, status);
  }

  async #serve(ctx: Context, exchange: Exchange): Promise<void> {
    const { target, path, search } = this.#route(ctx);
    if (target.kind === 'page') {
      await target.page(ctx, path);
      return;
    }
    const { operation, validator, handler } = target;
    const { access, callers, workload } = this.#deps;
    const { headers } = ctx.req;
    begin(exchange, operation);
    const limits: CallLimits = {
      requestId: exchange.requestId,
      traceparent: exchange.traceparent,
      deadlineMs: Date.now() + this.#deps.deadlineMs,
    };

    const caller = await workload.run(() => callers.find(headers.authorization, limits));
    exchange.caller = caller;
    this.#limitRate(ctx, caller);
    access.admit(caller, operation.access);

    const parameters = validator.parameters({ path, query: queryOf(search), header: headers });
    // Not before they were found to be ids: whatever else stands in their place is nobody's to keep.
    exchange.span?.setAttributes({
      'creditlane.application.id': parameters.path.applicationId,
      'creditlane.creditor.id': parameters.path.creditorId,
    });
    // Of an operation without a body too: it is passed over, and held to the same limits.
    const body = validator.body(await readJsonBody(ctx.req, ctx.res)) ?? NO_BODY;

    const about = targetOf(parameters.path, parameters.header, body);
    const result = await workload.run(async () => {
      const identity = await access.identity(caller, operation.access, about, limits);
      const idempotencyKey = parameters.header['idempotency-key'];
      const onReplayed = () => ctx.res.setHeader('Idempotent-Replayed', 'true');
      const context = { ...limits, identity, idempotencyKey, onReplayed };
      return handler({ ...parameters, body, context });
    });
    ctx.status = operation.successStatus;
    if (result === undefined) return;
    ctx.res.setHeader('Content-Type', JSON_TYPE);
    ctx.body = JSON.stringify(result);
  }

  #route({ req, res }: Context) {
    const url = req.url ?? '/';
    const queryAt = url.indexOf('?');
    const path = queryAt === -1 ? url : url.slice(0, queryAt);
    const match = this.#deps.routes.find(req.method ?? '', path);
    switch (match.kind) {
      case 'found':
        return { ...match, search: queryAt === -1 ? '' : url.slice(queryAt) };
      case 'other_methods':
        res.setHeader('Allow', match.allow);
        throw invalid('method_not_allowed', `this path takes ${match.allow}`);
      default:
        throw notFound('route_not_found', 'no operation has this path');
    }
  }

  #limitRate({ res }: Context, caller: Caller): void {
    const token = this.#deps.rateLimit.take(caller.id);
    res.setHeader('RateLimit-Policy', this.#deps.rateLimit.policy);
    res.setHeader('RateLimit', token.header);
    token.refuse();
  }
}

/** The request is one for an operation: from here on it is followed. */
function begin(exchange: Exchange, operation: Operation): void {
  exchange.operation = operation;
  const method = operation.method.toUpperCase();
  exchange.span = startSpan(`${method} ${operation.route}`, {
    kind: 'server',
    parent: exchange.traceparent,
    startsTrace: true,
    attributes: {
      'http.request.method': method,
      'http.route': operation.route,
      'creditlane.request.id': exchange.requestId,
    },
  });
  exchange.traceparent = exchange.span.traceparent ?? newTraceparent();
}

/** Answers a request that failed; gives the status. */
function fail(ctx: Context, exchange: Exchange, error: unknown): number {
  const { req, res } = ctx;
  const fault = clientFault(error);
  const { requestId, operation } = exchange;
  const asProblem = ctx.accepts('application/json', PROBLEM_TYPE) === PROBLEM_TYPE;
  const answer = errorAnswer(fault, { requestId, operation, asProblem });
  exchange.code = answer.code;
  if (answer.status >= 500) exchange.cause = fault.cause ?? fault;
  for (const [name, value] of Object.entries(answer.headers)) res.setHeader(name, value);
  if (hasEndlessBody(req)) {
    // Koa would end the answer at once.
    ctx.respond = false;
    answerAndHangUp(req, res, answer.status, answer.body);
  } else {
    ctx.status = answer.status;
    ctx.body = answer.body;
  }
  return answer.status;
}

function queryOf(search: string): RawParameters['query'] {
  const query: RawParameters['query'] = {};
  if (search === '') return query;
  const given = new URLSearchParams(search);
  for (const name of new Set(given.keys())) {
    const [first = '', ...more] = given.getAll(name);
    query[name] = more.length === 0 ? first : [first, ...more];
  }
  return query;
}

/** The records that a request is about, for deciding whether the caller may act for them. */
function targetOf(
  path: Record<string, string>,
  header: Record<string, string | undefined>,
  body: object,
) {
  const retailerId: unknown = 'retailerId' in body ? body.retailerId : undefined;
  return {
    applicationId: path.applicationId,
    creditorId: path.creditorId,
    retailerId: typeof retailerId === 'string' ? retailerId.toLowerCase() : undefined,
    retailerContext: header['x-service-retailer-id'],
  };
}

/** The gateway: the platform's front door, where keys become identities and HTTP becomes calls. */

import { ApplicationsService } from '@creditlane/proto/applications/v1/applications_service';
import { DirectoryService } from '@creditlane/proto/applications/v1/directory_service';
import { DecisionsService } from '@creditlane/proto/decisions/v1/decisions_service';
import {
  AccessService,
  IntegrationsService,
} from '@creditlane/proto/integrations/v1/integrations_service';
import { connect } from '@creditlane/rpc/client';
import Koa from 'koa';
import { Access } from './access.ts';
import { Callers } from './callers.ts';
import { docsPages } from './docs.ts';
import { bindHandlers } from './handler.ts';
import { type Listener, startListener } from './listener.ts';
import { loadOpenApiDocument } from './openapi-document.ts';
import { operationsOf } from './operation.ts';
import { applicationOperations } from './operations/applications.ts';
import { decisionOperations } from './operations/decisions.ts';
import { directoryOperations } from './operations/directory.ts';
import { integrationOperations } from './operations/integrations.ts';
import { RateLimit } from './rate-limit.ts';
import { RequestHandler, type RouteTarget } from './request-handler.ts';
import { RequestRecord } from './request-record.ts';
import { Routes } from './routes.ts';
import type { GatewayContext } from './service.ts';
import { compileValidators } from './validation.ts';
import { Workload } from './workload.ts';

export type Gateway = Pick<Listener, 'url' | 'port' | 'close'>;

/**
 * Starts to serve; ends with the process's closers. Throws when an operation of the OpenAPI document
 * cannot be served as described, and rejects with the system's error when the port cannot be had.
 */
export async function startGateway({
  settings,
  process,
  endpoints,
  signer,
}: GatewayContext): Promise<Gateway> {
  const { log, metrics, closers, health } = process;
  const applications = { signer, audience: 'applications', closers, health, metrics };
  const decisions = { signer, audience: 'decisions', closers, health, metrics };
  const integrations = { signer, audience: 'integrations', closers, health, metrics };
  const clients = {
    access: connect(AccessService, endpoints.integrations, integrations),
    integrations: connect(IntegrationsService, endpoints.integrations, integrations),
    applications: connect(ApplicationsService, endpoints.applications, applications),
    directory: connect(DirectoryService, endpoints.applications, applications),
    decisions: connect(DecisionsService, endpoints.decisions, decisions),
  };
  const cache = { cacheMs: settings.accessCacheMs };
  const handler = new RequestHandler({
    routes: routesOf({
      ...decisionOperations(clients.decisions),
      ...applicationOperations(clients.applications),
      ...integrationOperations(clients.integrations),
      ...directoryOperations(clients.directory),
    }),
    callers: new Callers(clients.access, cache),
    access: new Access(clients, cache),
    rateLimit: new RateLimit(settings.rateLimit),
    workload: new Workload(settings.maxUnderWay, metrics),
    record: new RequestRecord(log, metrics),
    deadlineMs: settings.deadlineMs,
  });

  const koa = new Koa();
  koa.use((ctx) => handler.handle(ctx));
  // Only what happens to a connection after the answer was made comes here.
  koa.on('error', (error) => log.debug({ err: error }, 'connection failed'));
  const answer = koa.callback();
  const server = await startListener(settings, (req, res, { closing }) => {
    if (closing) res.setHeader('Connection', 'close');
    void answer(req, res);
  });
  closers.add('gateway', () => server.close());
  health.add('gateway', () => !server.closing || 'closing');
  log.info({ url: server.url }, 'gateway listening');
  return server;
}

function routesOf(handlers: Parameters<typeof bindHandlers>[1]): Routes<RouteTarget> {
  const document = loadOpenApiDocument();
  const operations = operationsOf(document);
  const validators = compileValidators(document, operations);
  const bound = bindHandlers(operations, handlers);
  const routes = new Routes<RouteTarget>();
  for (const operation of operations) {
    const validator = validators.get(operation.id);
    const handler = bound.get(operation.id);
    // Both were made from the same list.
    if (validator === undefined || handler === undefined) throw new Error(operation.id);
    const target = { kind: 'operation', operation, validator, handler } as const;
    routes.add(operation.method.toUpperCase(), operation.route, target);
  }
  for (const [route, page] of Object.entries(docsPages(document))) {
    routes.add('GET', route, { kind: 'page', page });
  }
  return routes;
}

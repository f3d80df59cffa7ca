/** The gateway: serves the REST interface, authenticates callers, and calls the services in their name. */
import type { DescService } from '@bufbuild/protobuf';
import { ApplicationsService } from '@creditlane/proto/applications/v1/applications_service';
import { ConsentsService } from '@creditlane/proto/applications/v1/consents_service';
import { DirectoryService } from '@creditlane/proto/applications/v1/directory_service';
import { PlatformActsService } from '@creditlane/proto/audit/v1/platform_acts_service';
import { ConversationsService } from '@creditlane/proto/conversations/v1/conversations_service';
import { BureauCredentialsService } from '@creditlane/proto/creditfile/v1/bureau_credentials_service';
import { CreditFileService } from '@creditlane/proto/creditfile/v1/credit_file_service';
import { DecisionsService } from '@creditlane/proto/decisions/v1/decisions_service';
import { EnablementService } from '@creditlane/proto/integrations/v1/enablement_service';
import {
  AccessService,
  DestinationsService,
  IntegrationsService,
} from '@creditlane/proto/integrations/v1/integrations_service';
import { DeliveriesService } from '@creditlane/proto/webhooks/v1/deliveries_service';
import { connect } from '@creditlane/rpc/client';
import type { ServiceContext, WithCalls } from '@creditlane/service/define-service';
import { Access } from './access/access.ts';
import { OperationAvailability } from './availability/operation-availability.ts';
import { webhookExamples } from './document/examples.ts';
import type { Operation } from './document/operation.ts';
import { servedInterface } from './document/served-interface.ts';
import { createKoaApp } from './koa-app.ts';
import { RateLimiter } from './limits/rate-limiter.ts';
import { WaitingReads } from './limits/waiting-reads.ts';
import { type Listener, startListener } from './listener/listener.ts';
import { Refusals } from './middleware/refusals.ts';
import { applicationOperations } from './operations/applications.ts';
import { consentOperations } from './operations/consents.ts';
import { conversationOperations } from './operations/conversations.ts';
import { bureauCredentialOperations } from './operations/credit-files/bureau-credentials.ts';
import { creditFileOperations } from './operations/credit-files/credit-files.ts';
import { decisionOperations } from './operations/decisions.ts';
import { deliveryOperations } from './operations/deliveries.ts';
import { directoryOperations } from './operations/directory.ts';
import { enablementOperations } from './operations/enablement.ts';
import { exportOperations } from './operations/exports.ts';
import type { Handlers } from './operations/handlers.ts';
import { integrationOperations } from './operations/integrations.ts';
import { platformActOperations } from './operations/platform-acts.ts';
import type { Peer } from './peers.ts';
import { publicPathOf } from './public-url.ts';
import { DEFAULT_PUBLIC_URL, type SETTINGS } from './settings.ts';

export type Gateway = Pick<Listener, 'url' | 'port' | 'close'>;

/** How long the connections that are left after the grace may take to end. */
const CUT_MS = 1_000;

type GatewayContext = ServiceContext<typeof SETTINGS> & WithCalls<Peer>;

/**
 * Starts to serve; the process's closers stop the gateway. Rejects when an operation of the OpenAPI
 * document cannot be served as described, and with the system's error when the port is not available.
 */
export async function startGateway(context: GatewayContext): Promise<Gateway> {
  const { settings, process } = context;
  const { log, metrics, closers, health } = process;
  if (settings.publicUrl === DEFAULT_PUBLIC_URL) {
    log.warn(
      { url: settings.publicUrl },
      'links in answers lead each client to its own machine: set PUBLIC_URL to where clients reach this server',
    );
  }
  const { document, operations, validators } = servedInterface();
  const clients = connectServices(context, operations);
  // Half of the requests under way, so that the others never find all places taken by waiting reads.
  const waitingReads = new WaitingReads(Math.floor(settings.maxUnderWay / 2));
  const access = new Access(clients, { cacheMs: settings.accessCacheMs });
  const handlers: Handlers = {
    ...decisionOperations(clients.decisions),
    ...conversationOperations(clients.conversations),
    ...applicationOperations(clients.applications),
    ...consentOperations(clients.consents),
    ...exportOperations(clients),
    ...creditFileOperations(clients.creditFiles, { ...settings, waitingReads, access }),
    ...bureauCredentialOperations(clients.bureauCredentials),
    ...integrationOperations(clients.integrations),
    ...enablementOperations(clients.enablement),
    ...directoryOperations(clients),
    ...platformActOperations([clients.integrationActs, clients.directoryActs]),
    ...deliveryOperations(clients.deliveries, webhookExamples(document)),
  };
  const refusals = new Refusals(metrics);
  const app = createKoaApp({
    document,
    operations,
    validators,
    handlers,
    access,
    rateLimiter: new RateLimiter(clients.access, settings.rateLimit, process),
    publicPath: publicPathOf(settings.publicUrl),
    maxUnderWay: settings.maxUnderWay,
    timeoutMs: settings.deadlineMs,
    log,
    metrics,
    refusals,
  });

  const answer = app.callback();
  const listener = await startListener(
    {
      ...settings,
      // `limitRate` sets the header once the caller is known.
      isAuthenticated: (res) => res.hasHeader('RateLimit'),
      isDraining: () => health.isDraining,
      onRefusal: (code) => refusals.record(code),
    },
    (req, res) => void answer(req, res),
  );
  closers.own('gateway', listener, settings.graceMs + CUT_MS);
  // Closed before the listener, which waits for the requests under way.
  closers.own('waiting reads', waitingReads);
  health.add('gateway', () => !listener.closing || 'closing');
  log.info({ url: listener.url }, 'gateway listening');
  return listener;
}

/** The clients of all services. Their health decides which operations are available, and whether the gateway is ready. */
function connectServices(
  { process, endpoints, signer, settings }: GatewayContext,
  operations: readonly Operation[],
) {
  const { metrics, closers } = process;
  const availability = new OperationAvailability(operations, process);
  const timeoutMs = longestTimeoutMs(operations, settings.deadlineMs);
  const options = { signer, closers, health: availability.peers, metrics, timeoutMs };
  const client = <S extends DescService>(service: S, audience: Peer) =>
    connect(service, endpoints[audience], { ...options, audience });
  return {
    access: client(AccessService, 'integrations'),
    enablement: client(EnablementService, 'integrations'),
    integrations: client(IntegrationsService, 'integrations'),
    destinations: client(DestinationsService, 'integrations'),
    applications: client(ApplicationsService, 'applications'),
    consents: client(ConsentsService, 'applications'),
    directory: client(DirectoryService, 'applications'),
    conversations: client(ConversationsService, 'conversations'),
    creditFiles: client(CreditFileService, 'credit-file'),
    bureauCredentials: client(BureauCredentialsService, 'credit-file'),
    directoryActs: client(PlatformActsService, 'applications'),
    integrationActs: client(PlatformActsService, 'integrations'),
    decisions: client(DecisionsService, 'decisions'),
    deliveries: client(DeliveriesService, 'webhook-dispatcher'),
  };
}

/** The longest deadline of any operation, to which clients cap the deadlines of their calls. */
function longestTimeoutMs(operations: readonly Operation[], defaultMs: number): number {
  return Math.max(defaultMs, ...operations.map(({ timeoutMs = 0 }) => timeoutMs));
}

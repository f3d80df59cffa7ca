// The webhook inbox: the receiver for development. It stores webhooks, checks both signatures, shows
// them live in a browser and as JSON, and can fail in several ways.
import type { AddressInfo } from 'node:net';
import { createLimitedServer, type Timeouts } from '@creditlane/runtime/http/limited-server';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { createBehaviour } from './behaviour.ts';
import { createLiveUpdates } from './live-updates.ts';
import { openPage } from './page.ts';
import { openReceivedWebhooks } from './received-webhooks.ts';
import { findRefusal, hostsOf } from './request-origin.ts';
import { createRoutes, findRoute, refuse } from './routes.ts';

export interface WebhookInboxOptions {
  port: number;
  host: string;
  /** The valid secrets, as `whsec_…`; called for each check of signatures. */
  secrets: () => string[];
  /** Makes a secret valid beside the others; from then on `secrets` returns it too. */
  addSecret: (secret: string) => Promise<void>;
  /** The file that keeps the webhooks over a restart; without it they are in memory only. */
  dataFile?: string;
  log: Log;
  timeouts?: Timeouts;
}

/** Longer than senders keep idle connections, so that the server never closes one that gets a request. */
const KEEP_ALIVE_MS = 75_000;
/** Browsers and senders of one machine. The one idle longest makes room for a new one. */
const MAX_CONNECTIONS = 1_024;

/** Of every answer. The page has a content security policy of its own. */
const SECURITY_HEADERS = new Map([
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
  ['cross-origin-opener-policy', 'same-origin'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['referrer-policy', 'no-referrer'],
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
  ['cache-control', 'no-store'],
]);

export interface WebhookInbox {
  url: string;
  close: () => Promise<void>;
}

/**
 * Starts the webhook inbox. Rejects with the system's error when it cannot listen on the port.
 *
 * `POST` to any path delivers a webhook. `GET /` returns the stored webhooks, `DELETE /` deletes them,
 * `GET /events` streams them, `GET` and `PUT /behaviour` show and set how webhooks are answered, and
 * `PUT /secret` adds a secret that a rotation has made. Requests by other names than those of `host` and
 * of loopback, and from pages of other sites, are refused.
 */
export async function startWebhookInbox({
  port,
  host,
  log,
  timeouts,
  ...options
}: WebhookInboxOptions): Promise<WebhookInbox> {
  const watchers = createLiveUpdates();
  const routes = createRoutes({
    received: await openReceivedWebhooks(options.dataFile),
    behaviour: createBehaviour(),
    page: await openPage(),
    watchers,
    secrets: options.secrets,
    addSecret: options.addSecret,
  });

  let hosts: ReadonlySet<string> = new Set();
  // A request without Host is refused below, with the headers of every answer.
  const server = createLimitedServer(
    { timeouts, maxConnections: MAX_CONNECTIONS },
    { requireHostHeader: false, keepAliveTimeout: KEEP_ALIVE_MS },
  );
  server.on('request', async (request, response) => {
    response.setHeaders(SECURITY_HEADERS);
    try {
      const refusal = findRefusal(request, hosts);
      if (refusal !== undefined) {
        // Its body is not read.
        response.setHeader('connection', 'close');
        return refuse(response, refusal.status, refusal.message);
      }
      await findRoute(routes, request)(request, response);
    } catch (err) {
      // The sender closed the connection while its body was read: there is no one to answer.
      if (request.destroyed && !request.complete) return;
      log.error({ err }, 'the inbox failed to answer');
      if (response.headersSent) response.destroy();
      else refuse(response, 500, 'the inbox failed');
    }
  });

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const { port: taken } = server.address() as AddressInfo;
  hosts = hostsOf(host, taken);

  const close = async () => {
    watchers.close();
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  };
  return { url: `http://${host}:${taken}`, close };
}

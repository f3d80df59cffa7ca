// The webhook inbox: the receiver for development. It stores webhooks, checks both signatures, shows
// them live in a browser and as JSON, and can fail in several ways.
import { startDevelopmentServer } from '@creditlane/runtime/http/development-server';
import type { Timeouts } from '@creditlane/runtime/http/limited-server';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { createBehaviour } from './behaviour.ts';
import { createLiveUpdates } from './live-updates.ts';
import { openPage } from './page.ts';
import { openReceivedWebhooks } from './received-webhooks.ts';
import { createRoutes, findRoute } from './routes.ts';

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
  const server = await startDevelopmentServer({
    name: 'the inbox',
    host,
    port,
    log,
    timeouts,
    handle: (request, response) => findRoute(routes, request)(request, response),
  });
  const close = async () => {
    watchers.close();
    await server.close();
  };
  return { url: server.url, close };
}

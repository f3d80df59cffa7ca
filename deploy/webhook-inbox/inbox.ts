// The webhook inbox: a receiver for trying things out. It keeps what arrives, checks both
// signatures, shows all of it live in a browser and as JSON, and misbehaves when told to.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { createBehaviour } from './behaviour.ts';
import { createLiveUpdates } from './live-updates.ts';
import { openPage } from './page.ts';
import { openReceivedWebhooks } from './received-webhooks.ts';
import { createRoutes, findRoute, refuse } from './routes.ts';

export interface InboxOptions {
  port: number;
  host: string;
  /** The secrets that may have signed, as `whsec_…`; asked anew whenever a verdict is given. */
  secrets: () => string[];
  /** Keeps what arrived over a restart; without it, it is gone with the process. */
  dataFile?: string;
  log: Log;
}

export interface Inbox {
  url: string;
  close: () => Promise<void>;
}

/**
 * Starts the inbox; ready when the promise resolves, rejected when the port cannot be had.
 *
 * `POST` to any path delivers. `GET /` gives what arrived, `DELETE /` empties it, `GET /events` tells
 * it live, `GET` and `PUT /behaviour` show and set how deliveries are answered.
 */
export async function startInbox({ port, host, log, ...options }: InboxOptions): Promise<Inbox> {
  const watchers = createLiveUpdates();
  const routes = createRoutes({
    arrivals: await openReceivedWebhooks(options.dataFile),
    behaviour: createBehaviour(),
    page: await openPage(),
    watchers,
    secrets: options.secrets,
  });

  const server = createServer(async (request, response) => {
    try {
      await findRoute(routes, request)(request, response);
    } catch (err) {
      // A sender that hung up while its body was read waits for nothing.
      if (request.destroyed && !request.complete) return;
      log.error({ err }, 'the inbox failed to answer');
      if (response.headersSent) response.destroy();
      else refuse(response, 500, 'the inbox failed');
    }
  });
  // Longer than any sender keeps an idle connection, so that none is closed under a request.
  server.keepAliveTimeout = 75_000;

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const { port: taken } = server.address() as AddressInfo;

  const close = async () => {
    watchers.close();
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  };
  return { url: `http://${host}:${taken}`, close };
}

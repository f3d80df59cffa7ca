import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Health } from '../health.ts';
import { type Address, listen } from '../listen.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { shareRenderings } from '../telemetry/shared-renderings.ts';
import { closeHttpServer } from './close-http-server.ts';
import { createLimitedServer, type Timeouts } from './limited-server.ts';

export interface OpsServerOptions extends Address {
  health: Health;
  metrics: Metrics;
  timeouts?: Timeouts;
}

/** The server of probes and metrics, on a port of its own. */
export interface OpsServer {
  url: string;
  close(): Promise<void>;
}

interface MetricsPage {
  contentType: string;
  render: () => Promise<string>;
}

interface Answer {
  status: number;
  contentType: string;
  body: string;
}

/** Probes and Prometheus need a few. The one idle longest makes room for a new one. */
const MAX_CONNECTIONS = 256;

/**
 * Serves `/livez` (200) and `/readyz` (200, or 503 with the reasons) as JSON, and `/metrics` as text, with the health of
 * the process among the metrics.
 * @throws the system's error when the server cannot listen on the port.
 */
export async function startOpsServer(options: OpsServerOptions): Promise<OpsServer> {
  const { health, metrics, timeouts } = options;
  health.exportMetrics(metrics);
  const page: MetricsPage = {
    contentType: metrics.contentType,
    render: shareRenderings(() => metrics.text()),
  };
  const server = createLimitedServer({ timeouts, maxConnections: MAX_CONNECTIONS });
  server.on('request', (request, response) => {
    answer(request, health, page).then(
      (result) => send(response, result),
      // Metrics count their own failures; the probe only gets the status.
      () => send(response, text(500, 'internal error')),
    );
  });
  const { authority } = await listen(server, options);
  return {
    url: `http://${authority}`,
    close: () => closeHttpServer(server, 0),
  };
}

async function answer(
  request: IncomingMessage,
  health: Health,
  { contentType, render }: MetricsPage,
): Promise<Answer> {
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return text(405, 'only GET and HEAD are supported');
  const [path] = (request.url ?? '').split('?');
  // A process that can answer is alive. A failed dependency affects `/readyz` only, because a restart of the process would
  // not repair the dependency.
  if (path === '/livez') return json(200, { live: true });
  if (path === '/readyz') {
    const readiness = health.ready();
    return json(readiness.ready ? 200 : 503, readiness);
  }
  if (path === '/metrics') {
    return { status: 200, contentType, body: await render() };
  }
  return text(404, 'the paths are /livez, /readyz and /metrics');
}

function send(response: ServerResponse, { status, contentType, body }: Answer): void {
  response.writeHead(status, {
    'content-type': contentType,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  response.end(response.req.method === 'HEAD' ? undefined : body);
}

function json(status: number, value: object): Answer {
  return { status, contentType: 'application/json', body: JSON.stringify(value) };
}

function text(status: number, line: string): Answer {
  return { status, contentType: 'text/plain; charset=utf-8', body: `${line}\n` };
}

import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A span as it was received. */
export interface ReceivedSpan {
  service: string;
  name: string;
  /** By OTLP's numbers: 2 server, 3 client, 4 producer, 5 consumer. */
  kind: number;
  traceId: string;
  spanId: string;
  /** Empty for the first span of a trace. */
  parentSpanId: string;
  failed: boolean;
  attributes: Record<string, string>;
}

export interface OtlpReceiver {
  /** The value for OTEL_EXPORTER_OTLP_ENDPOINT. */
  endpoint: string;
  spans: ReceivedSpan[];
  /** The bodies of all requests. */
  texts: string[];
  /** The number of connections that were ever opened. */
  connections(): number;
  close(): Promise<void>;
}

// OTLP over HTTP with JSON, as opentelemetry-proto's trace service defines it.
interface Value {
  stringValue?: string;
  intValue?: string | number;
}
interface Attribute {
  key: string;
  value: Value;
}
interface OtlpSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes?: Attribute[];
  status?: { code?: number };
}
interface ExportRequest {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: { spans: OtlpSpan[] }[];
  }[];
}

const STATUS_ERROR = 2;

/** For the tests: an OTLP receiver of traces over HTTP. It answers 404 or 415 to other requests. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const texts: string[] = [];
  const receive = async (request: IncomingMessage) => {
    if (request.method !== 'POST' || request.url !== '/v1/traces') return 404;
    if (request.headers['content-type'] !== 'application/json') return 415;
    const text = (await buffer(request)).toString();
    texts.push(text);
    spans.push(...spansIn(JSON.parse(text)));
    return 200;
  };
  const server = createServer(async (request, response) => {
    response.writeHead(await receive(request), { 'content-type': 'application/json' });
    response.end('{}');
  });
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    spans,
    texts,
    connections: () => connections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function spansIn({ resourceSpans }: ExportRequest): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = record(resource.attributes)['service.name'] ?? '';
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => received(service, span)));
  });
}

function received(service: string, span: OtlpSpan): ReceivedSpan {
  const { name, kind, traceId, spanId, parentSpanId = '', attributes = [], status } = span;
  const failed = status?.code === STATUS_ERROR;
  return {
    service,
    name,
    kind,
    traceId,
    spanId,
    parentSpanId,
    failed,
    attributes: record(attributes),
  };
}

function record(attributes: Attribute[]): Record<string, string> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, String(value.stringValue ?? value.intValue)]),
  );
}

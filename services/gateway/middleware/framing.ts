/** Refuses requests without Host, and those that a proxy in front of the gateway may read in another way than the gateway does. */
import type { IncomingMessage } from 'node:http';
import { type Fault, invalid, invalidFields } from '@creditlane/rpc/fault';
import type { RequestMiddleware } from '../request-state.ts';

/**
 * Headers that a request may have once. Of most of these Node keeps the first and drops the others, and it
 * joins `idempotency-key` and `x-service-retailer-id` with commas; a proxy may keep the last.
 */
const SINGULAR: ReadonlySet<string> = new Set([
  'authorization',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'idempotency-key',
  'traceparent',
  'transfer-encoding',
  'x-request-id',
  'x-service-retailer-id',
]);

/** Runs before anything about the request is looked up. The connection closes after the refusal. */
export const refuseAmbiguous: RequestMiddleware = function refuseAmbiguous(ctx, next) {
  const fault = ambiguityOf(ctx.req);
  if (fault === undefined) return next();
  ctx.set('Connection', 'close');
  throw fault;
};

function ambiguityOf(req: IncomingMessage): Fault | undefined {
  // Node merges repeated headers into one property, so the numbers are equal when each header comes once.
  if (Object.keys(req.headers).length * 2 !== req.rawHeaders.length) {
    const repeated = repeatedHeader(req.rawHeaders);
    if (repeated !== undefined) {
      const field = { in: 'header', pointer: `/${repeated}`, message: 'is given more than once' };
      return invalidFields('duplicate_header', [field]);
    }
  }
  // RFC 9112, section 3.2.
  if (req.headers.host === undefined && req.httpVersionMinor > 0) {
    return invalid('malformed_request', 'a request in HTTP/1.1 needs the header Host');
  }
  const coding = req.headers['transfer-encoding'];
  if (coding === undefined) return undefined;
  if (coding.toLowerCase() !== 'chunked') {
    return invalid('transfer_coding_unknown', 'the only transfer coding accepted is chunked');
  }
  // Proxies of HTTP/1.0 pass the header on without reading it (RFC 9112, section 6.1).
  if (req.httpVersionMinor === 0) {
    return invalid('transfer_coding_unknown', 'HTTP/1.0 has no transfer codings');
  }
  return undefined;
}

/** `rawHeaders` has names and values in turn. */
function repeatedHeader(rawHeaders: readonly string[]): string | undefined {
  const seen = new Set<string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? '';
    if (!SINGULAR.has(name)) continue;
    if (seen.has(name)) return name;
    seen.add(name);
  }
  return undefined;
}

/** Reads the JSON body of a request, and no more of it than is allowed. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { cancelled, type Fault, invalid } from '@creditlane/rpc/fault';
import { type JsonLimits, parseJsonText } from './json-text.ts';

/** No operation takes a larger body. */
export const MAX_BODY_BYTES = 1024 * 1024;

const JSON_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset="?utf-8"?[ \t]*)?;?$/i;
const BYTE_ORDER_MARK = 0xfeff;

/**
 * The value of a body within the limits. Throws an `invalid` Fault when the body is larger (the rest is
 * not read), not declared as JSON, not UTF-8 or malformed, and a `cancelled` Fault when the client hangs up.
 */
export async function readJsonBody(
  req: IncomingMessage,
  res: ServerResponse,
  { maxBytes, ...limits }: JsonLimits & { maxBytes: number },
): Promise<unknown> {
  const { 'content-type': type, 'content-encoding': coding, expect } = req.headers;
  if (type === undefined || !JSON_TYPE.test(type)) {
    throw invalid('not_json', 'the body must be sent as Content-Type: application/json, in UTF-8');
  }
  if (coding !== undefined && coding.toLowerCase() !== 'identity') {
    throw invalid('not_json', 'the body must be sent without a Content-Encoding');
  }
  if (declaredBytes(req) > maxBytes) throw tooLarge(maxBytes);
  if (expect !== undefined) res.writeContinue();
  const bytes = await read(req, maxBytes);
  if (!isUtf8(bytes)) throw invalid('not_utf8', 'the body is not UTF-8');
  const text = bytes.toString('utf8');
  // Parsers may ignore a byte order mark (RFC 8259, section 8.1).
  return parseJsonText(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text, limits);
}

/** Whether the request has a body. */
export function hasBody(req: IncomingMessage): boolean {
  return req.headers['transfer-encoding'] !== undefined || declaredBytes(req) > 0;
}

/** The length in the header Content-Length; 0 without the header. */
export function declaredBytes(req: IncomingMessage): number {
  return Number(req.headers['content-length'] ?? 0);
}

function read(req: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const settle = () => {
      req.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
    };
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      chunks.push(chunk);
      if (length <= maxBytes) return;
      settle();
      req.pause();
      reject(tooLarge(maxBytes));
    };
    const onEnd = () => {
      settle();
      const [first] = chunks;
      resolve(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, length));
    };
    const onClose = () => {
      settle();
      reject(cancelled());
    };
    req.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}

function tooLarge(maxBytes: number): Fault {
  const limit = `${maxBytes / 1024} KiB`;
  return invalid(
    'body_too_large',
    `the body is larger than the ${limit} that this operation takes`,
  );
}

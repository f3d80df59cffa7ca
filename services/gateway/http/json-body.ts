/** Reads the JSON body of a request, and no more of it than is allowed. */
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { MIMEType } from 'node:util';
import { cancelled, type Fault, invalid, invalidFields } from '@creditlane/rpc/fault';
import { GrowingBuffer } from './growing-buffer.ts';
import { type JsonLimits, parseJsonText } from './json-text.ts';
import { JSON_TYPE } from './media-types.ts';

/** No operation takes a larger body. */
export const MAX_BODY_BYTES = 1024 * 1024;

/** The names of UTF-8 and of its subset ASCII. */
const UTF8_CHARSETS = new Set(['utf-8', 'utf8', 'us-ascii']);
/** As Node finds it. HTTP/1.0 has no such expectation. */
const CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i;
const BYTE_ORDER_MARK = 0xfeff;

/**
 * The value of a body within the limits; undefined for a body that declares no length and has no bytes. Throws an `invalid`
 * Fault when the body is larger (the rest is not read), not declared as JSON, not UTF-8 or malformed, and a `cancelled` Fault
 * when the client hangs up or was answered meanwhile.
 *
 * Before the bytes come into memory, `reserve` is called with their number: once with the declared length,
 * or for each piece of a body that declares none. When `reserve` throws, the rest is not read either.
 */
export async function readJsonBody(
  req: IncomingMessage,
  res: ServerResponse,
  { maxBytes, ...limits }: JsonLimits & { maxBytes: number },
  reserve: (bytes: number) => void,
): Promise<unknown> {
  const declared = declaredBytes(req);
  const { expect } = req.headers;
  const isAwaited = req.httpVersionMinor > 0 && expect !== undefined && CONTINUE.test(expect);
  const refusal = refusalOfType(req.headers);
  if (refusal !== undefined && (declared > 0 || isAwaited)) throw refusal;
  if (declared > maxBytes) throw tooLarge(maxBytes);
  if (declared > 0) reserve(declared);
  if (isAwaited) res.writeContinue();
  const reserveNext = (length: number) => {
    if (refusal !== undefined) throw refusal;
    reserve(length);
  };
  const bytes = await read(req, maxBytes, declared > 0 ? undefined : reserveNext);
  if (bytes.length === 0) return undefined;
  if (!isUtf8(bytes)) throw invalidFields('not_utf8', [{ pointer: '', message: 'is not UTF-8' }]);
  const text = bytes.toString('utf8');
  // Parsers may ignore a byte order mark (RFC 8259, section 8.1).
  return parseJsonText(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text, limits);
}

/** The Fault of a body that is not declared as JSON in UTF-8. */
function refusalOfType(headers: IncomingHttpHeaders): Fault | undefined {
  const { 'content-type': type, 'content-encoding': coding } = headers;
  if (type === undefined || !isJsonInUtf8(type)) {
    const message = 'the body must be sent as Content-Type: application/json, in UTF-8';
    return invalid('not_json', message);
  }
  if (coding !== undefined && coding.toLowerCase() !== 'identity') {
    return invalid('not_json', 'the body must be sent without a Content-Encoding');
  }
  return undefined;
}

/** JSON has no parameters (RFC 8259, section 11), so that all but a charset are ignored. */
function isJsonInUtf8(type: string): boolean {
  let parsed: MIMEType;
  try {
    parsed = new MIMEType(type);
  } catch {
    return false;
  }
  const charset = parsed.params.get('charset') ?? 'utf-8';
  return parsed.essence === JSON_TYPE && UTF8_CHARSETS.has(charset.toLowerCase());
}

/** Whether the request may have a body: one that declares no length may have no bytes. */
export function mayHaveBody(req: IncomingMessage): boolean {
  return req.headers['transfer-encoding'] !== undefined || declaredBytes(req) > 0;
}

/** The length in the header Content-Length; 0 without the header. */
export function declaredBytes(req: IncomingMessage): number {
  return Number(req.headers['content-length'] ?? 0);
}

function read(
  req: IncomingMessage,
  maxBytes: number,
  reserve?: (bytes: number) => void,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const received = new GrowingBuffer();
    const settle = () => {
      req.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
    };
    const onData = (chunk: Buffer) => {
      try {
        if (received.length + chunk.length > maxBytes) throw tooLarge(maxBytes);
        reserve?.(chunk.length);
        received.append(chunk);
      } catch (error) {
        settle();
        req.pause();
        reject(error);
      }
    };
    const onEnd = () => {
      settle();
      // The socket is not writable after a 408 for this request. Node goes on parsing, and the client was told that the
      // request has no effect.
      if (req.socket.writable) resolve(received.bytes());
      else reject(cancelled());
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

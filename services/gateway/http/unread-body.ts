/** Answers a request whose body is still arriving, and then closes the connection. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { declaredBytes, MAX_BODY_BYTES } from './json-body.ts';

/** How much more is received and discarded before the connection is cut. */
const MAX_DISCARDED_BYTES = 8 * 1024 * 1024;
const MAX_DISCARDING_MS = 1_000;

/**
 * Whether the unread rest of the body makes the connection useless for further requests, because the body
 * is too long or of unknown length. Node itself discards a short body of known length.
 */
export function leavesConnectionUnusable(req: IncomingMessage): boolean {
  if (req.complete) return false;
  return req.headers['transfer-encoding'] !== undefined || declaredBytes(req) > MAX_BODY_BYTES;
}

/**
 * Answers at once and closes the connection a little later. If the connection were closed with bytes
 * unread, TCP would reset it, and a client that is still sending would never see the answer.
 */
export function answerAndDiscardBody(
  req: IncomingMessage,
  res: ServerResponse,
  status: number,
  body: string,
): void {
  res.writeHead(status, { 'Content-Length': Buffer.byteLength(body), Connection: 'close' });
  res.write(body);
  let discarded = 0;
  const finish = () => {
    clearTimeout(deadline);
    req.off('data', onData).off('end', finish).off('close', finish).off('error', finish);
    res.end();
  };
  const onData = (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > MAX_DISCARDED_BYTES) finish();
  };
  const deadline = setTimeout(finish, MAX_DISCARDING_MS);
  req.on('data', onData).on('end', finish).on('close', finish).on('error', finish);
  req.resume();
}

/** Limits the bytes of the answers in memory that clients have not read yet. */
import { finished } from 'node:stream';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { SharedLimit } from '../limits/shared-limit.ts';
import type { OperationMiddleware } from '../request-state.ts';

/** Two hundred and fifty answers with the largest page (256 KiB), or a thousand with a usual page. */
const MAX_BYTES_HELD = 64 * 1024 * 1024;
/** Smaller answers are not counted, so that they cost nothing: 4,096 connections hold 256 MB of them at most. */
export const MIN_BYTES_COUNTED = 64 * 1024;

/**
 * A large answer counts as held until the system has taken all of it, or the connection is closed. Throws an
 * `overloaded` Fault when the answers of all callers take too much memory, and a `resource_exhausted` Fault
 * when those of the caller do.
 *
 * Only answers to GET are refused: other requests have already had their effect. The answer of such a request
 * repeats at most what its body said, and the body counts as held until the answer is sent.
 */
export function holdAnswer(bytesHeld: SharedLimit): OperationMiddleware {
  return async function holdAnswer(ctx, next) {
    await next();
    const { method, body, res, state } = ctx;
    const isWhole = typeof body === 'string' || Buffer.isBuffer(body);
    // A UTF-16 code unit has three bytes of UTF-8 at most, so the bytes of a short text need not be counted.
    if (method !== 'GET' || !isWhole || body.length * 3 < MIN_BYTES_COUNTED) return;
    const bytes = Buffer.byteLength(body);
    if (bytes < MIN_BYTES_COUNTED) return;
    const { id } = state.caller;
    bytesHeld.take(id, bytes);
    finished(res, () => bytesHeld.release(id, bytes));
    // Node would keep the string as well as its bytes.
    if (typeof body === 'string') ctx.body = Buffer.from(body);
  };
}

/** The limit of the bytes of answers in memory, of which each caller has a share. */
export function answerBytesHeld(metrics: Metrics): SharedLimit {
  return new SharedLimit(metrics, {
    gauge: 'http_answer_bytes_held',
    about: 'Bytes of the large answers that clients have not read yet.',
    max: MAX_BYTES_HELD,
    full: 'the answers that clients have not read take all the memory that there is for them',
    shareCode: 'too_many_bytes_unread',
    share: 'your answers that are not read yet are too large together; please read them first',
  });
}

/** Compresses answers in JSON for clients that accept it. */
import { acceptedCoding, compress } from '../http/content-coding.ts';
import type { RequestContext, RequestMiddleware } from '../request-state.ts';

/** A smaller answer fits into one packet with its headers, compressed or not. */
const MIN_BYTES = 1_400;
/** Beyond this, answers are sent as they are: waiting would cost more time than sending them takes. */
const MAX_AT_ONCE = 2;

const COMPRESSIBLE_TYPE = /^application\/(problem\+)?json\b/;

/**
 * Only answers to GET and errors are compressed. Secrets are shown once, in answers to POST and PUT. Whoever
 * writes text into a record may read the whole record, so the length of a compressed answer tells no one more.
 *
 * Compressing takes 0.04 to 0.3 ms of the event loop, and this function 0.1 µs for a small answer.
 */
export function compressAnswers(): RequestMiddleware {
  let underWay = 0;
  return async function compressAnswers(ctx, next) {
    await next();
    const { body } = ctx;
    const isWhole = typeof body === 'string' || Buffer.isBuffer(body);
    if (!isWhole || body.length < MIN_BYTES || !isCompressible(ctx)) return;
    ctx.vary('Accept-Encoding');
    const coding = acceptedCoding(ctx);
    if (coding === undefined || underWay === MAX_AT_ONCE) return;
    if (ctx.method === 'HEAD') {
      // The length of what GET would answer is unknown.
      ctx.body = '';
      ctx.remove('Content-Length');
    } else {
      underWay += 1;
      ctx.body = await compress(body, coding, 'quick').finally(() => {
        underWay -= 1;
      });
    }
    ctx.set('Content-Encoding', coding);
  };
}

/** A strong ETag is of the bytes as they are. */
function isCompressible({ method, status, res }: RequestContext): boolean {
  const isRead = method === 'GET' || method === 'HEAD';
  const type = String(res.getHeader('Content-Type'));
  return (
    (isRead || status >= 400) &&
    COMPRESSIBLE_TYPE.test(type) &&
    !res.hasHeader('Content-Encoding') &&
    !res.hasHeader('ETag')
  );
}

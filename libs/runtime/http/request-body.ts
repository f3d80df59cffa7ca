/** Reads the body of a request, up to a limit. */
import type { IncomingMessage } from 'node:http';

/** The body as UTF-8 text; undefined when it is larger: the rest is read and dropped. */
export async function readBody(
  request: IncomingMessage,
  maxBytes: number,
): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
  }
  return bytes > maxBytes ? undefined : Buffer.concat(chunks).toString('utf8');
}

/** The body of an answer without its content encoding, within a limit of bytes, and the charset of its text. */
import { MIMEType, promisify } from 'node:util';
import { gunzip, inflate } from 'node:zlib';
import type { HttpAnswer } from './exchange.ts';

export type DecodedBody =
  | { readonly kind: 'decoded'; readonly body: Uint8Array }
  | { readonly kind: 'too_large' }
  | { readonly kind: 'undecodable' };

const DECODERS = new Map([
  ['gzip', promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip)],
  ['x-gzip', promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip)],
  ['deflate', promisify<Buffer, { maxOutputLength: number }, Buffer>(inflate)],
]);

/** @param maxBytes the most bytes of the decoded body; zlib stops there, so that a decompression bomb costs no more memory */
export async function decodeBody(
  { headers, body }: HttpAnswer,
  maxBytes: number,
): Promise<DecodedBody> {
  // undici gives a header that an answer has twice as a list.
  const encoding = String(headers['content-encoding'] ?? 'identity')
    .trim()
    .toLowerCase();
  if (encoding === 'identity' || encoding === '') return { kind: 'decoded', body };
  const decode = DECODERS.get(encoding);
  if (decode === undefined) return { kind: 'undecodable' };
  try {
    return { kind: 'decoded', body: await decode(body, { maxOutputLength: maxBytes }) };
  } catch (error) {
    const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    return { kind: isTooLarge ? 'too_large' : 'undecodable' };
  }
}

/** The charset that the Content-Type of an answer names; undefined without one. */
export function charsetOf({ headers }: HttpAnswer): string | undefined {
  try {
    return new MIMEType(String(headers['content-type'] ?? '')).params.get('charset') ?? undefined;
  } catch {
    return undefined;
  }
}

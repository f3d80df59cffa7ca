/** Signed links to the PDF of a credit file: whoever holds a link may read the one file until it expires. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { forbidden } from '@creditlane/rpc/fault';
import type { Keys } from '@creditlane/runtime/setting';

const LIFETIME_S = 15 * 60;

/** When a link that is made now ends. */
export function endOfLink(now: Date): Date {
  return new Date((Math.floor(now.getTime() / 1_000) + LIFETIME_S) * 1_000);
}

/** When a link was made, to the second. */
export function madeAt({ expires }: Pick<SignedLink, 'expires'>): Date {
  return new Date((expires - LIFETIME_S) * 1_000);
}

/** The path and query of a link, relative to /v1. */
export function documentPath([key]: Keys, fileId: string, expiresAt: Date): string {
  const expires = expiresAt.getTime() / 1_000;
  const signature = sign(key, fileId, expires).toString('base64url');
  return `/credit-files/${fileId}/document?expires=${expires}&signature=${signature}`;
}

export interface SignedLink {
  fileId: string;
  /** In seconds since 1970. */
  expires: number;
  signature: string;
}

/**
 * Throws the fault `link_invalid` unless the link is unchanged, and `link_expired` after its end. An altered
 * link is invalid whether or not it names a file and a time in the past.
 */
export function checkLink(keys: Keys, { fileId, expires, signature }: SignedLink, now: Date): void {
  const given = Buffer.from(signature, 'base64url');
  const isSignedWith = (key: Uint8Array) => {
    const expected = sign(key, fileId, expires);
    // base64url has several texts for the same bytes; the link has the one that was made.
    return (
      given.length === expected.length &&
      timingSafeEqual(given, expected) &&
      expected.toString('base64url') === signature
    );
  };
  if (!keys.some(isSignedWith))
    throw forbidden('link_invalid', 'The link to the document is not valid.');
  if (now.getTime() >= expires * 1_000) {
    throw forbidden(
      'link_expired',
      'The link to the document has expired. Read the credit file again.',
    );
  }
}

function sign(key: Uint8Array, fileId: string, expires: number): Buffer {
  return createHmac('sha256', key).update(`document ${fileId} ${expires}`).digest();
}

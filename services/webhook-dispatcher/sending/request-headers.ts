/** The headers of a request to a receiver, which attempts at deliveries and test events have in common. */
import type { KeyObject } from 'node:crypto';
import { type SignedMessage, signatureHeaders } from './signature.ts';

/** `keys` are the destination's live secrets, newest first. */
export function requestHeaders(
  { sequence, ...message }: SignedMessage & { readonly sequence: number },
  keys: readonly KeyObject[],
  signatureHeader: string,
): Record<string, string> {
  return {
    'content-type': 'application/json',
    'user-agent': 'Creditlane-Webhooks/1',
    'webhook-sequence': String(sequence),
    ...signatureHeaders(message, keys, signatureHeader),
  };
}

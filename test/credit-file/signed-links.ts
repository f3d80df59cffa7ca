import { createHmac, randomBytes } from 'node:crypto';

const key = randomBytes(32);

/** The setting of a platform whose links to PDFs a test signs itself. */
export const LINK_KEY = { DOCUMENT_LINK_KEY: key.toString('base64') };

/** The path and query of a link that is valid for a platform with `LINK_KEY`, relative to /v1. */
export function signedLink(fileId: string, expires: number): string {
  const signature = createHmac('sha256', key).update(`document ${fileId} ${expires}`);
  return `/credit-files/${fileId}/document?expires=${expires}&signature=${signature.digest('base64url')}`;
}

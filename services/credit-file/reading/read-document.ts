/** Makes the PDF of a credit file for the holder of a signed link. */
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { Database } from '@creditlane/postgres/database';
import { inTransaction } from '@creditlane/postgres/transaction';
import type { Call } from '@creditlane/rpc/call';
import { notFound } from '@creditlane/rpc/fault';
import type { Clock } from '@creditlane/runtime/clock';
import type { Renewed } from '@creditlane/runtime/renewed-file';
import type { Keys } from '@creditlane/runtime/setting';
import { appendAuditRecord } from '../audit/audit-log.ts';
import { actorOf, fileFacts } from '../audit/audit-record.ts';
import type { CreditFile } from '../credit-file.ts';
import { openCreditFile } from '../custody/credit-file-keys.ts';
import { checkLink } from '../document/document-link.ts';
import { findFile } from '../store/credit-files.ts';
import { maskFile } from './mask-file.ts';

export interface ReadDocumentDeps extends Pick<Database, 'pool' | 'rowTurns'> {
  /** Opens the sealed files, and seals the head of the audit log. */
  keyRing: KeyRing;
  /** Signs the links. */
  documentLinkKeys: Renewed<Keys>;
  /** Makes the PDF of a file, off the event loop. */
  render: (file: CreditFile, signal: AbortSignal) => Promise<Uint8Array>;
  clock: Clock;
}

/**
 * The PDF, which never shows the whole social insurance number: whoever holds the link reads it without an API key.
 * @throws Fault `link_expired` or `link_invalid`; `credit_file_not_found` for a link of a file that was purged or erased;
 *   `document_too_large`
 */
export async function readDocument(
  { pool, rowTurns, keyRing, documentLinkKeys, render, clock }: ReadDocumentDeps,
  link: { fileId: string; expires: number; signature: string },
  { identity, requestId, signal }: Call,
): Promise<Uint8Array> {
  // The file of the keys is not read again for a signature of an unknown key: anybody may send links that are not valid.
  checkLink(documentLinkKeys(), link, clock());
  const stored = await findFile(pool, link.fileId);
  const file = stored && (await openCreditFile(pool, keyRing, stored));
  if (file === undefined) throw notFound('credit_file_not_found', 'There is no such credit file.');
  const record = {
    ...fileFacts(file),
    action: 'DOCUMENT_READ' as const,
    at: clock(),
    actor: actorOf(identity),
    requestId,
  };
  // Each record waits for the head of the retailer's chain.
  await rowTurns.run(file.retailerId, () =>
    inTransaction(pool, (tx) => appendAuditRecord(tx, keyRing, record)),
  );
  return render(maskFile(JSON.parse(file.text)), signal);
}

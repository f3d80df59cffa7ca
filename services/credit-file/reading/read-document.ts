/** Makes the PDF of a credit file for the holder of a signed link. */
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { Database } from '@creditlane/postgres/database';
import { inTransaction } from '@creditlane/postgres/transaction';
import type { Call } from '@creditlane/rpc/call';
import { type Fault, notFound } from '@creditlane/rpc/fault';
import { appendAuditRecord } from '../audit/audit-log.ts';
import { actorOf, fileFacts } from '../audit/audit-record.ts';
import type { CreditFile } from '../credit-file.ts';
import { openCreditFile } from '../custody/credit-file-keys.ts';
import type { SignedLink } from '../document/document-link.ts';
import { MAX_PER_MINUTE, minuteOf } from '../document/document-openings.ts';
import type { KeptDocuments } from '../document/kept-documents.ts';
import { findFile, findRetailerOfFile, type StoredFile } from '../store/credit-files.ts';
import { countOpening } from '../store/document-openings.ts';
import { type LinkAccessDeps, requireConsent, requireSigned } from './link-access.ts';
import { maskFile } from './mask-file.ts';

export interface ReadDocumentDeps extends LinkAccessDeps, Pick<Database, 'requests'> {
  /** Opens the sealed files, and seals the head of the audit log. */
  keyRing: KeyRing;
  keptDocuments: KeptDocuments;
  /** Makes the PDF of a file, off the event loop. */
  render: (file: CreditFile, signal: AbortSignal) => Promise<Uint8Array>;
}

/** A link ends within five seconds of its consent, also while the document waits or is drawn. */
const RECHECK_AFTER_MS = 4_000;

/**
 * The PDF, which never shows the whole social insurance number: whoever holds the link reads it without an API key.
 * @throws Fault as `requireSigned`, `DocumentOpenings.run` and `requireConsent` do; `rate_limited`; `credit_file_not_found` for a link of
 *   a file that was purged or erased; `document_too_large`
 */
export async function readDocument(
  deps: ReadDocumentDeps,
  link: SignedLink,
  call: Call,
): Promise<Uint8Array> {
  requireSigned(deps, link);
  const { pool, keyRing, openings, keptDocuments, render, clock } = deps;
  const retailerId = await findRetailerOfFile(pool, link.fileId);
  if (retailerId === undefined) throw fileNotFound();
  const open = async () => {
    const stored = await findFile(pool, link.fileId);
    const file = stored && (await openCreditFile(pool, keyRing, stored));
    if (file === undefined) throw fileNotFound();
    const checkedMs = clock().getTime();
    await requireConsent(deps, link, file, call);
    await recordOpening(deps, link, file, call);
    const keepMs = link.expires * 1_000 - checkedMs;
    const draw = () => render(maskFile(JSON.parse(file.text)), call.signal);
    const document = await keptDocuments.find(file, keepMs, draw);
    if (clock().getTime() - checkedMs > RECHECK_AFTER_MS) {
      await requireConsent(deps, link, file, call);
    }
    return document;
  };
  return openings.run({ link, retailerId }, open, call);
}

/** Counts the opening, and records the link's first one in this minute, before the answer: without a record nothing is read. */
async function recordOpening(
  { requests, keyRing, openings, clock }: ReadDocumentDeps,
  link: SignedLink,
  file: StoredFile,
  call: Call,
): Promise<void> {
  const { fileId, expires } = link;
  const { retailerId } = file;
  const { identity, requestId } = call;
  const at = clock();
  const actor = actorOf(identity);
  const record = { ...fileFacts(file), action: 'DOCUMENT_READ' as const, at, actor, requestId };
  const opening = { minute: minuteOf(at), fileId, expiresAt: new Date(expires * 1_000), record };
  // A record waits for the head of the retailer's chain.
  const db = requests.of(call, { retailers: [retailerId] }).onRow(retailerId);
  const earlier = await inTransaction(db, async (tx) => {
    const earlier = await countOpening(tx, opening, MAX_PER_MINUTE);
    if (earlier === 0) await appendAuditRecord(tx, keyRing, record);
    return earlier;
  });
  if (earlier === undefined) throw openings.refuse(link, at);
}

function fileNotFound(): Fault {
  return notFound('credit_file_not_found', 'There is no such credit file.');
}

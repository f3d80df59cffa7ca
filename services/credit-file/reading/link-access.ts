/** Whether a link to a document still opens it: by its signature and end, its consent, and those who were given it. */
import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { Database } from '@creditlane/postgres/database';
import type { ConsentsService } from '@creditlane/proto/applications/v1/consents_service';
import type { Call } from '@creditlane/rpc/call';
import { forbidden } from '@creditlane/rpc/fault';
import type { PeerClient } from '@creditlane/rpc/peer-client';
import type { Clock } from '@creditlane/runtime/clock';
import type { Renewed } from '@creditlane/runtime/renewed-file';
import type { Keys } from '@creditlane/runtime/setting';
import { checkLink, madeAt, type SignedLink } from '../document/document-link.ts';
import type { DocumentOpenings } from '../document/document-openings.ts';
import { findInquirySubject } from '../inquiry/inquiry-subject.ts';
import type { StoredFile } from '../store/credit-files.ts';
import { findLinkReaders } from '../store/document-links.ts';

export interface LinkAccessDeps extends Pick<Database, 'pool'> {
  /** Signs the links. */
  documentLinkKeys: Renewed<Keys>;
  openings: DocumentOpenings;
  consents: PeerClient<typeof ConsentsService>;
  clock: Clock;
}

/** @throws Fault `link_expired`, `link_invalid`, or `rate_limited` for a link that this process knows to be opened too often */
export function requireSigned(
  { documentLinkKeys, openings, clock }: Omit<LinkAccessDeps, 'pool' | 'consents'>,
  link: SignedLink,
): void {
  const now = clock();
  // The file of the keys is not read again for a signature of an unknown key: anybody may send links that are not valid.
  checkLink(documentLinkKeys(), link, now);
  openings.requireLeft(link, now);
}

/**
 * Those who were given a link, as the gateway gets them: it knows which of them may still read the file.
 * @throws Fault as `requireSigned` does
 */
export async function findReaders(deps: LinkAccessDeps, link: SignedLink) {
  requireSigned(deps, link);
  const given = { fileId: link.fileId, expiresAt: new Date(link.expires * 1_000) };
  const readers = await findLinkReaders(deps.pool, given);
  return {
    applicationId: readers[0]?.applicationId ?? '',
    readers: readers.map(({ integrationId, retailerContext }) => ({
      integrationId,
      retailerContext: retailerContext ?? '',
    })),
  };
}

/**
 * Throws the fault `link_ended` when the application is archived, or the consent of the file's pull has ended or was revoked.
 * A link that was made on a later consent lasts as long as that one. `unavailable` while the applications service cannot be
 * reached.
 */
export async function requireConsent(
  { consents }: Pick<LinkAccessDeps, 'consents'>,
  link: SignedLink,
  file: StoredFile,
  call: Call,
): Promise<void> {
  const subject = await findInquirySubject(consents, file, call, file.consentId);
  const { isArchived = true, consent } = subject ?? {};
  const isOfFile = consent?.id === file.consentId;
  const wasThere =
    consent?.recordedAt !== undefined && timestampDate(consent.recordedAt) < madeAt(link);
  if (isArchived || !(isOfFile || wasThere)) {
    throw forbidden(
      'link_ended',
      "The link to the document has ended with the applicant's consent, or the application is archived.",
    );
  }
}

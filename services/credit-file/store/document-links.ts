/** The SQL of the links to documents that were given to integrations: inserts, finds and purges them. */
import { definePurge, PURGE_BATCH_ROWS } from '@creditlane/postgres/retention';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';

/** A link, and the application of its file. */
export interface GivenLink {
  fileId: string;
  expiresAt: Date;
  retailerId: string;
  applicationId: string;
}

/** An integration that was given a link. */
export interface LinkReader {
  integrationId: string;
  /** The retailer for which it read the file, where the applicant belongs to another retailer of the group. */
  retailerContext?: string | null | undefined;
}

// Two reads of a file in one second give the same link.
const insertRow = defineStatement(
  'document_link_insert',
  `INSERT INTO document_links (file_id, expires_at, integration_id, retailer_context, retailer_id, application_id)
   VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
);

export async function insertLink(
  tx: Queryable,
  { fileId, expiresAt, retailerId, applicationId }: GivenLink,
  { integrationId, retailerContext }: LinkReader,
): Promise<void> {
  const reader = [integrationId, retailerContext];
  await insertRow.run(tx, [fileId, expiresAt, ...reader, retailerId, applicationId]);
}

const selectReaders = defineStatement<{
  integrationId: string;
  retailerContext: string | null;
  applicationId: string;
}>(
  'document_link_readers',
  `SELECT integration_id AS "integrationId", retailer_context AS "retailerContext",
     application_id AS "applicationId"
   FROM document_links WHERE file_id = $1 AND expires_at = $2`,
);

/** Who was given a link, and the application of its file; nobody for a link of the version before. */
export function findLinkReaders(
  db: Queryable,
  { fileId, expiresAt }: Pick<GivenLink, 'fileId' | 'expiresAt'>,
): Promise<(LinkReader & { applicationId: string })[]> {
  return selectReaders.run(db, [fileId, expiresAt]);
}

export const purgeLinks = definePurge(
  'document_links_purge',
  `DELETE FROM document_links WHERE expires_at < now() AND ctid = ANY (ARRAY(
     SELECT ctid FROM document_links WHERE expires_at < now() ORDER BY expires_at LIMIT ${PURGE_BATCH_ROWS}))`,
);

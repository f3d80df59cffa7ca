/** Reads and writes the applicants' consents. Nothing of a consent changes but its revocation. */
import { create } from '@bufbuild/protobuf';
import { type Timestamp, timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import { ApplicationStatus } from '@creditlane/proto/applications/v1/application';
import {
  type StoredConsent,
  StoredConsentSchema,
} from '@creditlane/proto/applications/v1/consents_service';
import type { StoredApplicant } from '../applicant/sealed-applicant.ts';
import type { ConsentFacts } from '../consents/consent.ts';
import type { RetailerUser } from '../directory/user.ts';
import { KEY_OF_APPLICANT } from './applicant-data-keys.ts';
import { microsSql, type Position } from './newest-first.ts';
import { RETAILER_USER } from './users.ts';

type Row = {
  id: string;
  applicant_id: string;
  purpose: string;
  text_version: string;
  document_sha256: string | null;
  consented_at: Date;
  recorded_by_user_id: string;
  recorded_at: Date;
  expires_at: Date;
  revoked_at: Date | null;
  revoked_by_user_id: string | null;
};

/** When a consent ends: a year after its capture, if the version that recorded it knew no end. */
const ENDS_AT = `coalesce(consents.expires_at,
  (consents.consented_at AT TIME ZONE 'UTC' + interval '1 year') AT TIME ZONE 'UTC')`;

/** The columns of a consent, as every statement returns them. */
const COLUMNS = `consents.id, consents.applicant_id, consents.purpose, consents.text_version,
  encode(consents.document_sha256, 'hex') AS document_sha256, consents.consented_at,
  consents.recorded_by_user_id, coalesce(consents.recorded_at, consents.consented_at) AS recorded_at,
  ${ENDS_AT} AS expires_at, consents.revoked_at, consents.revoked_by_user_id`;

/** The applicant of a request, named by its application too, and the user whom the request names. */
export interface ApplicantKey {
  applicationId: string;
  applicantId: string;
  retailerId: string;
}

const lockRow = defineStatement<{
  status: string;
  retailer_id: string;
  retailer_group_id: string | null;
  acting_user: RetailerUser | null;
}>(
  'consent_applicant_lock',
  `SELECT applications.status, retailers.id AS retailer_id, retailers.retailer_group_id,
     (SELECT jsonb_build_object(${RETAILER_USER}) FROM users WHERE id = $4) AS acting_user
   FROM applicants JOIN applications ON applications.id = applicants.application_id
     JOIN retailers ON retailers.id = applications.retailer_id
   WHERE applicants.id = $1 AND applications.id = $2 AND retailers.id = $3
   FOR UPDATE OF applications`,
);

// The statement that waits for the lock reads the applicant as it was before the wait.
const selectErased = defineStatement<{ erased: boolean }>(
  'consent_applicant_erased',
  'SELECT erased_at IS NOT NULL AS erased FROM applicants WHERE id = $1',
);

/**
 * Locks an applicant's application, under whose lock consents are recorded and revoked: a submission then sees each
 * of them whole or not at all. Undefined where the retailer's application has no such applicant.
 *
 * @param userId empty without a user
 */
export async function lockApplicant(
  tx: Queryable,
  { applicantId, applicationId, retailerId }: ApplicantKey,
  userId: string,
): Promise<ConsentFacts | undefined> {
  const [row] = await lockRow.run(tx, [applicantId, applicationId, retailerId, userId || null]);
  if (row === undefined) return undefined;
  const [applicant] = await selectErased.run(tx, [applicantId]);
  return {
    archived: row.status === ApplicationStatus[ApplicationStatus.ARCHIVED],
    erased: applicant?.erased === true,
    retailer: { id: row.retailer_id, retailerGroupId: row.retailer_group_id },
    user: row.acting_user ?? undefined,
  };
}

const insertRow = defineStatement(
  'consent_insert',
  `INSERT INTO consents (id, applicant_id, purpose, text_version, document_sha256, consented_at,
     recorded_by_user_id, integration_id, recorded_at, expires_at)
   VALUES ($1, $2, $3, $4, decode(nullif($5, ''), 'hex'), $6, $7, $8, $9, $10)`,
);

export async function insertConsent(
  tx: Queryable,
  { id, applicantId, purpose, textVersion, documentSha256, ...consent }: StoredConsent,
  integrationId: string,
): Promise<void> {
  const { capturedBy } = consent;
  const [capturedAt, recordedAt, expiresAt] = [
    consent.capturedAt,
    consent.recordedAt,
    consent.expiresAt,
  ].map((time) => time && timestampDate(time));
  const what = [id, applicantId, purpose, textVersion, documentSha256];
  await insertRow.run(tx, [...what, capturedAt, capturedBy, integrationId, recordedAt, expiresAt]);
}

/** The consents of a submission, which differ in the applicant and in what the applicant has agreed to. */
export interface SubmittedConsents {
  consents: readonly { applicantId: string; textVersion: string; documentSha256: string }[];
  userId: string;
  integrationId: string;
  submittedAt: Date;
  expiresAt: Date;
}

/**
 * An application that goes to one creditor after another has one consent, not one for each submission: the earlier
 * one counts as long as it says the same and ends at most 30 days before the new one would. What the applicant revoked
 * while the submission waited for its locks stays revoked.
 */
const insertSubmitted = defineStatement(
  'consents_insert_submitted',
  `INSERT INTO consents (id, applicant_id, text_version, document_sha256, consented_at,
     recorded_by_user_id, integration_id, recorded_at, expires_at)
   SELECT gen_random_uuid(), applicant_id, given.text_version, given.document, $6, $4, $5, $6, $7
   FROM unnest($1::uuid[], $2::text[], $3::text[]) AS of_request (applicant_id, text_version, hex)
     CROSS JOIN LATERAL (SELECT of_request.text_version, decode(nullif(hex, ''), 'hex') AS document) AS given
   WHERE NOT EXISTS (
     SELECT FROM consents
     WHERE consents.applicant_id = of_request.applicant_id AND consents.revoked_at IS NULL
       AND consents.purpose = 'CREDIT_APPLICATION' AND consents.text_version = given.text_version
       AND consents.document_sha256 IS NOT DISTINCT FROM given.document
       AND ${ENDS_AT} >= $7::timestamptz - interval '30 days')
   AND NOT EXISTS (
     SELECT FROM consents
     WHERE consents.applicant_id = of_request.applicant_id AND consents.purpose = 'CREDIT_APPLICATION'
       AND consents.revoked_at >= $6)`,
);

/** Inserts the consents of a submission that the applicants have not given already. */
export async function insertSubmittedConsents(
  tx: Queryable,
  { consents, userId, integrationId, submittedAt, expiresAt }: SubmittedConsents,
): Promise<void> {
  await insertSubmitted.run(tx, [
    consents.map(({ applicantId }) => applicantId),
    consents.map(({ textVersion }) => textVersion),
    consents.map(({ documentSha256 }) => documentSha256),
    userId,
    integrationId,
    submittedAt,
    expiresAt,
  ]);
}

const selectOne = defineStatement<Row>(
  'consent_find',
  `SELECT ${COLUMNS} FROM consents WHERE id = $1 AND applicant_id = $2`,
);

/** One consent of an applicant; undefined without it. */
export async function findConsent(
  db: Queryable,
  consentId: string,
  applicantId: string,
): Promise<StoredConsent | undefined> {
  const [row] = await selectOne.run(db, [consentId, applicantId]);
  return row && consentFromRow(row);
}

/**
 * An applicant may have several consents for one purpose, one of each submission that an earlier version took for
 * example. A person who takes back what they have agreed to takes back all of it.
 */
const updateRevoked = defineStatement<Row>(
  'consents_revoke',
  `UPDATE consents
   SET revoked_at = $3, revoked_by_integration_id = $4, revoked_by_user_id = $5
   WHERE applicant_id = $2 AND revoked_at IS NULL AND purpose = (
     SELECT named.purpose FROM consents AS named
     WHERE named.id = $1 AND named.applicant_id = $2 AND named.revoked_at IS NULL)
   RETURNING ${COLUMNS}`,
);

/**
 * Revokes a consent of an applicant, and with it every other one of the applicant for the same purpose. Undefined
 * where there is no such consent, or it is revoked already: then none is revoked.
 */
export async function revokeRows(
  tx: Queryable,
  { consentId, applicantId }: { consentId: string; applicantId: string },
  by: { at: Date; integrationId: string; userId: string | null },
): Promise<StoredConsent | undefined> {
  const values = [consentId, applicantId, by.at, by.integrationId, by.userId];
  const rows = await updateRevoked.run(tx, values);
  const row = rows.find(({ id }) => id === consentId);
  return row && consentFromRow(row);
}

const selectLastRevocation = defineStatement<{ revoked_at: Date | null }>(
  'consents_last_revocation',
  'SELECT max(revoked_at) AS revoked_at FROM consents WHERE applicant_id = $1 AND purpose = $2',
);

/** When an applicant's consents for a purpose were last revoked; undefined if never. After `lockApplicant`. */
export async function findLastRevocation(
  tx: Queryable,
  applicantId: string,
  purpose: string,
): Promise<Date | undefined> {
  const [row] = await selectLastRevocation.run(tx, [applicantId, purpose]);
  return row?.revoked_at ?? undefined;
}

/** A consent with the time of its capture in UTC to the microsecond, its position in the list. */
export interface ListedConsent {
  consent: StoredConsent;
  capturedAtMicros: string;
}

/** The columns of `page` are null, all at once, for an applicant without such a consent. */
const selectPage = defineStatement<
  Omit<Row, 'id'> & { id: string | null; captured_at_micros: string }
>(
  'consents_list',
  `SELECT page.*,
     ${microsSql('page.consented_at')} AS captured_at_micros
   FROM applicants JOIN applications ON applications.id = applicants.application_id
   LEFT JOIN LATERAL (
     SELECT ${COLUMNS} FROM consents
     WHERE consents.applicant_id = applicants.id
       AND (consents.consented_at, consents.id) < ($4::timestamptz, $5::uuid)
     ORDER BY consents.consented_at DESC, consents.id DESC LIMIT $6
   ) AS page ON true
   WHERE applicants.id = $1 AND applications.id = $2 AND applications.retailer_id = $3
   ORDER BY page.consented_at DESC, page.id DESC`,
);

/** An applicant's consents, newest first. Undefined where the retailer's application has no such applicant. */
export async function findConsents(
  db: Queryable,
  { applicantId, applicationId, retailerId }: ApplicantKey,
  { at, id }: Position,
  limit: number,
): Promise<ListedConsent[] | undefined> {
  const values = [applicantId, applicationId, retailerId, at, id, limit];
  const rows = await selectPage.run(db, values);
  if (rows.length === 0) return undefined;
  return rows.flatMap(({ id, captured_at_micros, ...row }) =>
    id === null
      ? []
      : [{ consent: consentFromRow({ id, ...row }), capturedAtMicros: captured_at_micros }],
  );
}

/** A person whom an inquiry is about, sealed, and the consent that permits the inquiry. */
export interface SealedSubject {
  retailerId: string;
  status: string;
  applicant: StoredApplicant;
  consent: StoredConsent | undefined;
}

/**
 * This statement alone decides whether a consent permits an inquiry: it is for the inquiry's purpose, was not
 * revoked, and has not ended, and the applicant was not erased. Of several, the one that ends last counts.
 */
const selectSubject = defineStatement<
  Omit<Row, 'id'> & {
    id: string | null;
    retailer_id: string;
    status: string;
    sealed: Buffer;
    key_id: string | null;
    sealed_key: Buffer | null;
    erased_at: Date | null;
  }
>(
  'inquiry_subject',
  `SELECT applications.retailer_id, applications.status, applicants.sealed, applicants.key_id,
     applicant_keys.sealed AS sealed_key, of_applicant.erased_at, permitting.*
   FROM applicants JOIN applications ON applications.id = applicants.application_id
   LEFT JOIN applicant_keys ON ${KEY_OF_APPLICANT}
     AND applicant_keys.retailer_id = applications.retailer_id
   CROSS JOIN LATERAL (
     SELECT coalesce(applicants.erased_at, applicant_keys.destroyed_at) AS erased_at) AS of_applicant
   LEFT JOIN LATERAL (
     SELECT ${COLUMNS} FROM consents
     WHERE consents.applicant_id = applicants.id AND consents.purpose = $3
       AND consents.revoked_at IS NULL AND ${ENDS_AT} > $4 AND of_applicant.erased_at IS NULL
     ORDER BY ${ENDS_AT} DESC, consents.id LIMIT 1
   ) AS permitting ON true
   WHERE applicants.id = $1 AND applications.id = $2`,
);

/** The person whom an inquiry is about; undefined where the application has no such applicant. */
export async function findSubject(
  db: Queryable,
  { applicantId, applicationId }: Pick<ApplicantKey, 'applicantId' | 'applicationId'>,
  purpose: string,
  now: Date,
): Promise<SealedSubject | undefined> {
  const [row] = await selectSubject.run(db, [applicantId, applicationId, purpose, now]);
  if (!row) return undefined;
  const { retailer_id, status, sealed, key_id, sealed_key, erased_at, id, ...consent } = row;
  return {
    retailerId: retailer_id,
    status,
    applicant: {
      id: applicantId,
      sealed,
      keyId: key_id,
      sealedKey: sealed_key,
      erasedAt: erased_at,
    },
    consent: id === null ? undefined : consentFromRow({ id, ...consent }),
  };
}

function consentFromRow(row: Row): StoredConsent {
  return create(StoredConsentSchema, {
    id: row.id,
    applicantId: row.applicant_id,
    purpose: row.purpose,
    textVersion: row.text_version,
    documentSha256: row.document_sha256 ?? '',
    capturedAt: timestampFromDate(row.consented_at),
    capturedBy: row.recorded_by_user_id,
    recordedAt: timestampFromDate(row.recorded_at),
    expiresAt: timestampFromDate(row.expires_at),
    revokedAt: timestampOf(row.revoked_at),
    revokedBy: row.revoked_by_user_id ?? '',
  });
}

function timestampOf(date: Date | null): Timestamp | undefined {
  return date === null ? undefined : timestampFromDate(date);
}

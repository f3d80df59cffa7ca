/** Reads and writes the applicants' consents. Nothing of a consent changes but its revocation. */
import { create } from '@bufbuild/protobuf';
import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import { ApplicationStatus } from '@creditlane/proto/applications/v1/application';
import {
  type StoredConsent,
  StoredConsentSchema,
} from '@creditlane/proto/applications/v1/consents_service';
import { type ListPosition, microsSql } from '@creditlane/rpc/lists/list-cursor';
import type { StoredApplicant } from '../applicant/sealed-applicant.ts';
import type { ConsentFacts } from '../consents/consent.ts';
import type { RetailerUser } from '../directory/user.ts';
import { ERASED_AT, KEY_OF_APPLICANT } from './applicant-data-keys.ts';
import { RETAILER_USER } from './users.ts';

type Row = {
  id: string;
  applicantId: string;
  purpose: string;
  textVersion: string;
  documentSha256: string | null;
  capturedAt: Date;
  capturedBy: string;
  recordedAt: Date;
  expiresAt: Date;
  revokedAt: Date | null;
  revokedBy: string | null;
};

/** When a consent ends: a year after its capture, if the version that recorded it knew no end. */
const ENDS_AT = `coalesce(consents.expires_at,
  (consents.consented_at AT TIME ZONE 'UTC' + interval '1 year') AT TIME ZONE 'UTC')`;

/** The columns of a consent, as every statement returns them. */
const COLUMNS = `consents.id, consents.applicant_id AS "applicantId", consents.purpose,
  consents.text_version AS "textVersion", encode(consents.document_sha256, 'hex') AS "documentSha256",
  consents.consented_at AS "capturedAt", consents.recorded_by_user_id AS "capturedBy",
  coalesce(consents.recorded_at, consents.consented_at) AS "recordedAt", ${ENDS_AT} AS "expiresAt",
  consents.revoked_at AS "revokedAt", consents.revoked_by_user_id AS "revokedBy"`;

/** The applicant of a request, whose application and retailer the request names, too. */
export interface ApplicantKey {
  applicationId: string;
  applicantId: string;
  retailerId: string;
}

const selectApplicant = defineStatement(
  'consent_applicant_find',
  `SELECT FROM applicants JOIN applications ON applications.id = applicants.application_id
   WHERE applicants.id = $1 AND applications.id = $2 AND applications.retailer_id = $3`,
);

/** Whether the retailer's application has this applicant. */
export async function hasApplicant(
  db: Queryable,
  { applicantId, applicationId, retailerId }: ApplicantKey,
): Promise<boolean> {
  const rows = await selectApplicant.run(db, [applicantId, applicationId, retailerId]);
  return rows.length > 0;
}

const lockRow = defineStatement<{
  status: string;
  retailerId: string;
  retailerGroupId: string | null;
  user: RetailerUser | null;
}>(
  'consent_applicant_lock',
  `SELECT applications.status, retailers.id AS "retailerId",
     retailers.retailer_group_id AS "retailerGroupId",
     (SELECT jsonb_build_object(${RETAILER_USER}) FROM users WHERE id = $4) AS "user"
   FROM applicants JOIN applications ON applications.id = applicants.application_id
     JOIN retailers ON retailers.id = applications.retailer_id
   WHERE applicants.id = $1 AND applications.id = $2 AND retailers.id = $3
   FOR UPDATE OF applications`,
);

// The statement that waits for the lock reads the applicant as it was before the wait.
const selectErased = defineStatement<{ erased: boolean }>(
  'consent_applicant_erased',
  `SELECT ${ERASED_AT} IS NOT NULL AS erased
   FROM applicants JOIN applications ON applications.id = applicants.application_id
     LEFT JOIN applicant_keys ON ${KEY_OF_APPLICANT}
       AND applicant_keys.retailer_id = applications.retailer_id
   WHERE applicants.id = $1`,
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
    retailer: { id: row.retailerId, retailerGroupId: row.retailerGroupId },
    user: row.user ?? undefined,
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
  /** When the submission began, before it waited for its locks, as `readDatabaseTime` gives it. */
  begunAt: string;
  expiresAt: Date;
}

const selectTime = defineStatement<{ now: string }>(
  'consents_database_time',
  'SELECT statement_timestamp()::text AS now',
);

/**
 * The time by the database's clock, to the microsecond. Submissions and revocations are compared by it, because
 * the clocks of two replicas may differ by more than the time between a revocation and the next submission.
 */
export async function readDatabaseTime(db: Queryable): Promise<string> {
  const [row] = await selectTime.run(db, []);
  if (row === undefined) throw new Error('the query returns one row');
  return row.now;
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
       AND consents.revoked_at >= $8::timestamptz)`,
);

/** Inserts the consents of a submission that the applicants have not given already. */
export async function insertSubmittedConsents(
  tx: Queryable,
  { consents, userId, integrationId, submittedAt, expiresAt, begunAt }: SubmittedConsents,
): Promise<void> {
  await insertSubmitted.run(tx, [
    consents.map(({ applicantId }) => applicantId),
    consents.map(({ textVersion }) => textVersion),
    consents.map(({ documentSha256 }) => documentSha256),
    userId,
    integrationId,
    submittedAt,
    expiresAt,
    begunAt,
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
   SET revoked_at = statement_timestamp(), revoked_by_integration_id = $3, revoked_by_user_id = $4
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
  by: { integrationId: string; userId: string | null },
): Promise<StoredConsent | undefined> {
  const values = [consentId, applicantId, by.integrationId, by.userId];
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
  Omit<Row, 'id'> & { id: string | null; capturedAtMicros: string }
>(
  'consents_list',
  `SELECT page.*,
     ${microsSql('page."capturedAt"')} AS "capturedAtMicros"
   FROM applicants JOIN applications ON applications.id = applicants.application_id
   LEFT JOIN LATERAL (
     SELECT ${COLUMNS} FROM consents
     WHERE consents.applicant_id = applicants.id
       AND (consents.consented_at, consents.id) < ($4::timestamptz, $5::uuid)
     ORDER BY consents.consented_at DESC, consents.id DESC LIMIT $6
   ) AS page ON true
   WHERE applicants.id = $1 AND applications.id = $2 AND applications.retailer_id = $3
   ORDER BY page."capturedAt" DESC, page.id DESC`,
);

/** An applicant's consents, newest first. Undefined where the retailer's application has no such applicant. */
export async function findConsents(
  db: Queryable,
  { applicantId, applicationId, retailerId }: ApplicantKey,
  { at, id }: ListPosition,
  limit: number,
): Promise<ListedConsent[] | undefined> {
  const values = [applicantId, applicationId, retailerId, at, id, limit];
  const rows = await selectPage.run(db, values);
  if (rows.length === 0) return undefined;
  return rows.flatMap(({ id, capturedAtMicros, ...row }) =>
    id === null ? [] : [{ consent: consentFromRow({ id, ...row }), capturedAtMicros }],
  );
}

/** A person whom an inquiry is about, sealed, and the consent that permits the inquiry. */
export interface SealedSubject {
  retailerId: string;
  status: string;
  applicant: StoredApplicant;
  consent: StoredConsent | undefined;
}

/** The id of no consent. */
const NO_CONSENT = '00000000-0000-0000-0000-000000000000';

/**
 * This statement alone decides whether a consent permits an inquiry: it is for the inquiry's purpose, was not
 * revoked, and has not ended, and the applicant was not erased. Of several, the one that is asked for counts, or else the one that
 * ends last.
 */
const selectSubject = defineStatement<
  Omit<Row, 'id'> & {
    id: string | null;
    retailerId: string;
    status: string;
  } & Omit<StoredApplicant, 'id'>
>(
  'inquiry_subject',
  `SELECT applications.retailer_id AS "retailerId", applications.status, applicants.sealed,
     applicants.key_id AS "keyId", applicant_keys.sealed AS "sealedKey",
     of_applicant.erased_at AS "erasedAt", permitting.*
   FROM applicants JOIN applications ON applications.id = applicants.application_id
   LEFT JOIN applicant_keys ON ${KEY_OF_APPLICANT}
     AND applicant_keys.retailer_id = applications.retailer_id
   CROSS JOIN LATERAL (
     SELECT ${ERASED_AT} AS erased_at) AS of_applicant
   LEFT JOIN LATERAL (
     SELECT ${COLUMNS} FROM consents
     WHERE consents.applicant_id = applicants.id AND consents.purpose = $3
       AND consents.revoked_at IS NULL AND ${ENDS_AT} > $4 AND of_applicant.erased_at IS NULL
     ORDER BY consents.id = $5 DESC, ${ENDS_AT} DESC, consents.id LIMIT 1
   ) AS permitting ON true
   WHERE applicants.id = $1 AND applications.id = $2`,
);

/** The person whom an inquiry is about; undefined where the application has no such applicant. */
export async function findSubject(
  db: Queryable,
  { applicantId, applicationId }: Pick<ApplicantKey, 'applicantId' | 'applicationId'>,
  { purpose, consentId }: { purpose: string; consentId: string },
  now: Date,
): Promise<SealedSubject | undefined> {
  const wanted = consentId || NO_CONSENT;
  const [row] = await selectSubject.run(db, [applicantId, applicationId, purpose, now, wanted]);
  if (!row) return undefined;
  const { retailerId, status, sealed, keyId, sealedKey, erasedAt, id, ...consent } = row;
  return {
    retailerId,
    status,
    applicant: { id: applicantId, sealed, keyId, sealedKey, erasedAt },
    consent: id === null ? undefined : consentFromRow({ id, ...consent }),
  };
}

function consentFromRow({ revokedAt, ...row }: Row): StoredConsent {
  return create(StoredConsentSchema, {
    ...row,
    documentSha256: row.documentSha256 ?? '',
    capturedAt: timestampFromDate(row.capturedAt),
    recordedAt: timestampFromDate(row.recordedAt),
    expiresAt: timestampFromDate(row.expiresAt),
    revokedBy: row.revokedBy ?? '',
    ...(revokedAt && { revokedAt: timestampFromDate(revokedAt) }),
  });
}

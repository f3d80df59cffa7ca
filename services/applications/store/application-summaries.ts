/** Reads the applications of a retailer as lists show them, without their applicants. */
import { defineStatement, type Queryable, type Statement } from '@creditlane/postgres/statement';
import { ApplicationStatus, ApplicationType } from '@creditlane/proto/applications/v1/application';
import { type ListPosition, microsSql } from '@creditlane/rpc/lists/list-cursor';
import { enumValue } from './application-row.ts';

export interface ApplicationSummary {
  applicationId: string;
  retailerId: string;
  type: ApplicationType;
  status: ApplicationStatus;
  referenceNumber: string;
  createdAt: Date;
  /** The same time in UTC to the microsecond, as PostgreSQL keeps it: a Date has milliseconds. */
  createdAtMicros: string;
  submissions: { creditorId: string; submittedAt: Date }[];
}

/** Which applications to find. */
export interface SummaryQuery {
  retailerId: string;
  /** Undefined: any. */
  status: string | undefined;
  /** Empty: any, or none. */
  referenceNumber: string;
  /** Only applications after this one in the order of the list. */
  before: ListPosition;
  limit: number;
}

interface SummaryRow {
  applicationId: string;
  type: string;
  status: string;
  referenceNumber: string | null;
  createdAt: Date;
  createdAtMicros: string;
  submissions: { creditorId: string; submittedAt: string }[];
}

/** The columns of `page` are null, all at once, for a retailer without such an application. */
type Row = SummaryRow | { applicationId: null };

/**
 * A page of a retailer's applications. The statement exists for each kind of filter, because PostgreSQL plans it for any
 * values: one condition that holds for all reference numbers, or all statuses, would read every application of the
 * retailer instead of an index. The row comparison reads the index applications_by_retailer, or applications_by_status,
 * from the position on. The outer join distinguishes an empty page, which is one row of nulls, from a missing retailer,
 * which is no row.
 */
function defineSummaryStatement(name: string, condition: string): Statement<Row> {
  return defineStatement<Row>(
    name,
    `SELECT page.*,
       ${microsSql('page."createdAt"')} AS "createdAtMicros",
       (SELECT coalesce(jsonb_agg(jsonb_build_object('creditorId', creditor_id, 'submittedAt',
          submitted_at) ORDER BY submitted_at, creditor_id), '[]')
        FROM submissions WHERE application_id = page."applicationId") AS submissions
     FROM retailers LEFT JOIN LATERAL (
       SELECT id AS "applicationId", type, status, reference_number AS "referenceNumber",
         created_at AS "createdAt"
       FROM applications
       WHERE retailer_id = retailers.id AND (created_at, id) < ($2::timestamptz, $3::uuid)
         AND ${condition}
       ORDER BY created_at DESC, id DESC LIMIT $6
     ) AS page ON true
     WHERE retailers.id = $1
     ORDER BY page."createdAt" DESC, page."applicationId" DESC`,
  );
}

const selectSummaries = defineSummaryStatement(
  'application_summaries',
  '$4::text IS NULL AND $5::text IS NULL',
);
const selectSummariesByStatus = defineSummaryStatement(
  'application_summaries_by_status',
  'status = $4::text AND $5::text IS NULL',
);
const selectSummaryByReference = defineSummaryStatement(
  'application_summary_by_reference',
  '($4::text IS NULL OR status = $4) AND reference_number = $5::text',
);

function statementFor(status: string | undefined, referenceNumber: string): Statement<Row> {
  if (referenceNumber !== '') return selectSummaryByReference;
  return status === undefined ? selectSummaries : selectSummariesByStatus;
}

/** Newest first. Undefined for a retailer that does not exist. */
export async function findApplicationSummaries(
  db: Queryable,
  { retailerId, status, referenceNumber, before, limit }: SummaryQuery,
): Promise<ApplicationSummary[] | undefined> {
  const reference = referenceNumber || null;
  const values = [retailerId, before.at, before.id, status ?? null, reference, limit];
  const rows = await statementFor(status, referenceNumber).run(db, values);
  if (rows.length === 0) return undefined;
  return rows.flatMap((row) =>
    row.applicationId === null ? [] : [summaryFromRow(row, retailerId)],
  );
}

function summaryFromRow(row: SummaryRow, retailerId: string): ApplicationSummary {
  return {
    ...row,
    retailerId,
    type: enumValue(ApplicationType, row.type),
    status: enumValue(ApplicationStatus, row.status),
    referenceNumber: row.referenceNumber ?? '',
    submissions: row.submissions.map(({ creditorId, submittedAt }) => ({
      creditorId,
      submittedAt: new Date(submittedAt),
    })),
  };
}

/** Converts the rows of an application to its message. */
import { create, fromJson, type JsonValue } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import {
  type Applicant,
  type Application,
  ApplicationSchema,
  ApplicationStatus,
  ApplicationType,
  Relationship,
  type Worksheet,
  WorksheetSchema,
} from '@creditlane/proto/applications/v1/application';
import { openApplicant, type StoredApplicant } from '../applicant/sealed-applicant.ts';
import { withRecordIds, withVehicleIds } from './record-ids.ts';

export interface ApplicationRow {
  id: string;
  retailerId: string;
  type: string;
  status: string;
  referenceNumber: string | null;
  relationship: string | null;
  createdAt: Date;
}

export type ApplicantRole = 'PRIMARY' | 'CO';

export interface ApplicantRow extends StoredApplicant {
  role: ApplicantRole;
}

export interface SubmissionRow {
  creditorId: string;
  /** A Worksheet message in protobuf JSON. */
  worksheet: object;
  submittedAt: Date;
}

/** The rows of an application, with its submissions in the order in which answers show them. */
interface ApplicationRows extends ApplicationRow {
  applicants: ApplicantRow[];
  submissions: SubmissionRow[];
}

/** An application with its applicants' data in the clear. */
export function applicationFromRows(row: ApplicationRows, keyRing: KeyRing): Application {
  const applicant = (role: ApplicantRole) => {
    const found = row.applicants.find((applicant) => applicant.role === role);
    return found && applicantFromRow(found, row.retailerId, keyRing);
  };
  return create(ApplicationSchema, {
    applicationId: row.id,
    retailerId: row.retailerId,
    type: enumValue(ApplicationType, row.type),
    status: enumValue(ApplicationStatus, row.status),
    referenceNumber: row.referenceNumber ?? '',
    primaryApplicant: applicant('PRIMARY'),
    coApplicant: applicant('CO'),
    relationship: enumValue(Relationship, row.relationship ?? 'UNSPECIFIED'),
    submissions: row.submissions.map(({ creditorId, submittedAt, worksheet }) => ({
      creditorId,
      submittedAt: timestampFromDate(submittedAt),
      worksheet: withVehicleIds(worksheetFromJson(worksheet), row.id),
    })),
    createdAt: timestampFromDate(row.createdAt),
  });
}

/** An applicant's data in the clear; of an erased one, the id and the time of the erasure. */
export function applicantFromRow(
  stored: StoredApplicant,
  retailerId: string,
  keyRing: KeyRing,
): Applicant {
  const { erasedAt } = stored;
  const applicant = withRecordIds(openApplicant(keyRing, stored, retailerId));
  if (erasedAt !== null) applicant.erasedAt = timestampFromDate(erasedAt);
  return applicant;
}

/** A stored worksheet. Fields that a newer version of the service has written are ignored. */
export function worksheetFromJson(json: object): Worksheet {
  return fromJson(WorksheetSchema, json as JsonValue, { ignoreUnknownFields: true });
}

// The database stores an enum value by its name, which people can read.
export function enumValue<E extends Record<string, string | number>>(
  names: E,
  name: string,
): E[keyof E] {
  const value = names[name as keyof E];
  if (typeof value !== 'number') throw new Error(`the database has the unknown enum value ${name}`);
  return value;
}

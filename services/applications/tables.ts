/** The tables of the applications service that TypeORM reads and writes. */
import { EntitySchema } from 'typeorm';

export interface RetailerGroupRow {
  id: string;
  name: string;
}

export interface RetailerRow {
  id: string;
  name: string;
  retailerGroupId: string | null;
}

export interface UserRow {
  id: string;
  firstName: string;
  lastName: string;
  email: string;
  active: boolean;
  retailerIds: string[];
  retailerGroupIds: string[];
}

export interface CreditorRow {
  id: string;
  name: string;
}

export interface ApplicationRow {
  id: string;
  retailerId: string;
  type: string;
  status: string;
  referenceNumber: string | null;
  relationship: string | null;
  createdAt: Date;
  applicants: ApplicantRow[];
  submissions: SubmissionRow[];
}

/** A row of an application with personal data in `sealed`, an encrypted message or text. */
export interface SealedRow {
  id: string;
  applicationId: string;
  sealed: Buffer;
  /** The key of the ring that wraps it; empty or null where data keys of applicants seal it. */
  sealedWith: string | null;
  application: ApplicationRow;
}

export interface ApplicantRow extends SealedRow {
  role: ApplicantRole;
  /** The data key that seals the applicant; null for one that a version without data keys has sealed. */
  keyId: string | null;
  /** When the applicant was erased; null for any other. */
  erasedAt: Date | null;
}

export type ApplicantRole = 'PRIMARY' | 'CO';

export interface SubmissionRow {
  applicationId: string;
  creditorId: string;
  /** A Worksheet message in protobuf JSON. */
  worksheet: object;
  submittedAt: Date;
  application: ApplicationRow;
}

const ofApplication = {
  application: {
    type: 'many-to-one',
    target: 'applications',
    joinColumn: { name: 'application_id' },
  },
} as const;

const sealedColumns = {
  id: { type: 'uuid', primary: true },
  applicationId: { type: 'uuid', name: 'application_id' },
  sealed: { type: 'bytea' },
  sealedWith: { type: 'text', name: 'sealed_with', nullable: true },
} as const;

/** A group of retailers; the group's users may act for each of its retailers. */
export const retailerGroups = new EntitySchema<RetailerGroupRow>({
  name: 'retailer_groups',
  columns: {
    id: { type: 'uuid', primary: true },
    name: { type: 'text' },
  },
});

export const retailers = new EntitySchema<RetailerRow>({
  name: 'retailers',
  columns: {
    id: { type: 'uuid', primary: true },
    name: { type: 'text' },
    retailerGroupId: { type: 'uuid', name: 'retailer_group_id', nullable: true },
  },
});

export const users = new EntitySchema<UserRow>({
  name: 'users',
  columns: {
    id: { type: 'uuid', primary: true },
    firstName: { type: 'text', name: 'first_name' },
    lastName: { type: 'text', name: 'last_name' },
    email: { type: 'text' },
    active: { type: 'boolean' },
    retailerIds: { type: 'uuid', name: 'retailer_ids', array: true },
    retailerGroupIds: { type: 'uuid', name: 'retailer_group_ids', array: true },
  },
});

export const creditors = new EntitySchema<CreditorRow>({
  name: 'creditors',
  columns: {
    id: { type: 'uuid', primary: true },
    name: { type: 'text' },
  },
});

const applications = new EntitySchema<ApplicationRow>({
  name: 'applications',
  columns: {
    id: { type: 'uuid', primary: true },
    retailerId: { type: 'uuid', name: 'retailer_id' },
    type: { type: 'text' },
    status: { type: 'text' },
    referenceNumber: { type: 'text', name: 'reference_number', nullable: true },
    relationship: { type: 'text', nullable: true },
    createdAt: { type: 'timestamptz', name: 'created_at' },
  },
  relations: {
    applicants: { type: 'one-to-many', target: 'applicants', inverseSide: 'application' },
    submissions: { type: 'one-to-many', target: 'submissions', inverseSide: 'application' },
  },
});

/** Applicants. All personal data is in `sealed`, an encrypted Applicant message, whose key is destroyed by an erasure. */
const applicants = new EntitySchema<ApplicantRow>({
  name: 'applicants',
  columns: {
    ...sealedColumns,
    role: { type: 'text' },
    keyId: { type: 'uuid', name: 'key_id', nullable: true },
    erasedAt: { type: 'timestamptz', name: 'erased_at', nullable: true },
  },
  relations: ofApplication,
});

/** One application submitted to one creditor, with the worksheet of the submission. */
const submissions = new EntitySchema<SubmissionRow>({
  name: 'submissions',
  columns: {
    applicationId: { type: 'uuid', name: 'application_id', primary: true },
    creditorId: { type: 'uuid', name: 'creditor_id', primary: true },
    worksheet: { type: 'jsonb' },
    submittedAt: { type: 'timestamptz', name: 'submitted_at' },
  },
  relations: ofApplication,
});

/**
 * Exports. The payload of the webhook is in `sealed`, encrypted, and null once it was purged, or an applicant erased. A search for rows
 * that are sealed with a key finds no purged row.
 */
const exportedApplications = new EntitySchema<SealedRow>({
  name: 'exports',
  columns: sealedColumns,
  relations: ofApplication,
});

/** All tables, for the data source. */
export const TABLES = [
  retailerGroups,
  retailers,
  users,
  creditors,
  applications,
  applicants,
  submissions,
  exportedApplications,
];

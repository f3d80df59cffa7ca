/** The tables of the credit-file service. */
import { EntitySchema } from 'typeorm';

/**
 * The pulls of an applicant, numbered 1, 2, 3 … by `seq`. `last_request` orders them by the latest request that got
 * the pull: the highest is the pull that reads give. `due_at` is the time of the next attempt of a
 * requested pull, and the end of the lease of a running one. `fence` counts the owners of the pull.
 * `sent_at` is committed before the inquiry is sent. `request_key` is the caller's own id of the request,
 * and `request_id` the X-Request-Id. `key_id` is the applicant's data key, which seals the file. `consent` is the evidence of the consent that the pull is made on.
 * `traceparent` is that of the request that made the pull. `bureau_code` is the bureau's code for why it refused the inquiry.
 */
const pulls = new EntitySchema({
  name: 'pulls',
  columns: {
    id: { type: 'uuid', primary: true },
    retailer_id: { type: 'uuid' },
    application_id: { type: 'uuid' },
    applicant_id: { type: 'uuid' },
    seq: { type: 'integer' },
    last_request: { type: 'integer' },
    source: { type: 'text' },
    state: { type: 'text' },
    failure: { type: 'text', nullable: true },
    forced: { type: 'boolean' },
    request_key: { type: 'text', nullable: true },
    key_id: { type: 'uuid' },
    requested_by: { type: 'text' },
    request_id: { type: 'text' },
    consent: { type: 'jsonb' },
    attempts: { type: 'integer' },
    fence: { type: 'integer' },
    due_at: { type: 'timestamptz', nullable: true },
    requested_at: { type: 'timestamptz' },
    sent_at: { type: 'timestamptz', nullable: true },
    finished_at: { type: 'timestamptz', nullable: true },
    traceparent: { type: 'text', nullable: true },
    bureau_code: { type: 'text', nullable: true },
  },
  indices: [
    { name: 'pulls_sequence', columns: ['applicant_id', 'seq'], unique: true },
    {
      name: 'pulls_request_key',
      columns: ['applicant_id', 'request_key'],
      unique: true,
      where: 'request_key IS NOT NULL',
    },
    {
      name: 'pulls_unfinished',
      columns: ['applicant_id', 'source'],
      unique: true,
      where: 'finished_at IS NULL',
    },
    { name: 'pulls_due', columns: ['due_at'], where: 'finished_at IS NULL' },
  ],
});

/**
 * The file of a complete pull. `sealed` is the file's JSON text, encrypted with the data key of the pull. `hit_type` is
 * in the clear, because the list of pulls shows it without opening a file. It reveals whether the bureau knows the person
 * and whether the file is locked. The row names the applicant by an id alone, and is deleted with the file.
 */
const creditFiles = new EntitySchema({
  name: 'credit_files',
  columns: {
    id: { type: 'uuid', primary: true },
    pull_id: { type: 'uuid' },
    retailer_id: { type: 'uuid' },
    applicant_id: { type: 'uuid' },
    source: { type: 'text' },
    hit_type: { type: 'text' },
    requested_date: { type: 'date' },
    sealed: { type: 'bytea' },
    created_at: { type: 'timestamptz' },
  },
  indices: [
    { name: 'credit_files_pull', columns: ['pull_id'], unique: true },
    { name: 'credit_files_applicant', columns: ['applicant_id'] },
    { name: 'credit_files_created_at', columns: ['created_at'] },
  ],
});

/** A retailer's credentials with a bureau. `sealed` is the encrypted message of the contract. */
const bureauCredentials = new EntitySchema({
  name: 'bureau_credentials',
  columns: {
    retailer_id: { type: 'uuid', primary: true },
    source: { type: 'text', primary: true },
    sealed: { type: 'bytea' },
    sealed_with: { type: 'text' },
    set_at: { type: 'timestamptz' },
  },
  indices: [{ name: 'bureau_credentials_sealed_with', columns: ['sealed_with'] }],
});

/** Data keys of applicants in stored form; `sealed` is null once the key is destroyed. */
const applicantKeys = new EntitySchema({
  name: 'applicant_keys',
  columns: {
    id: { type: 'uuid', primary: true },
    applicant_id: { type: 'uuid' },
    retailer_id: { type: 'uuid' },
    sealed: { type: 'bytea', nullable: true },
    sealed_with: { type: 'text', nullable: true },
    created_at: { type: 'timestamptz' },
    destroyed_at: { type: 'timestamptz', nullable: true },
  },
  indices: [
    {
      name: 'applicant_keys_live',
      columns: ['applicant_id', 'retailer_id'],
      unique: true,
      where: 'destroyed_at IS NULL',
    },
    { name: 'applicant_keys_sealed_with', columns: ['sealed_with'] },
  ],
  checks: [
    {
      name: 'applicant_keys_sealed_or_destroyed',
      expression: `(sealed IS NULL) = (destroyed_at IS NOT NULL) AND (sealed IS NULL) = (sealed_with IS NULL)`,
    },
  ],
});

/** The audit log; rows never change. `hash` covers the row and the hash of the row before it. */
const auditRecords = new EntitySchema({
  name: 'audit_records',
  columns: {
    retailer_id: { type: 'uuid', primary: true },
    seq: { type: 'bigint', primary: true },
    recorded_at: { type: 'timestamptz' },
    action: { type: 'text' },
    actor_kind: { type: 'text' },
    actor: { type: 'text' },
    request_id: { type: 'text', nullable: true },
    purpose: { type: 'text', nullable: true },
    application_id: { type: 'uuid', nullable: true },
    applicant_id: { type: 'uuid', nullable: true },
    pull_id: { type: 'uuid', nullable: true },
    file_id: { type: 'uuid', nullable: true },
    consent_id: { type: 'uuid', nullable: true },
    source: { type: 'text', nullable: true },
    outcome: { type: 'text', nullable: true },
    hash: { type: 'bytea' },
    retailer_context: { type: 'uuid', nullable: true },
  },
  indices: [{ name: 'audit_records_pull', columns: ['pull_id'], where: 'pull_id IS NOT NULL' }],
});

/** The head of each retailer's chain of audit records: the sequence and hash of the last one, encrypted. */
const auditHeads = new EntitySchema({
  name: 'audit_heads',
  columns: {
    retailer_id: { type: 'uuid', primary: true },
    sealed: { type: 'bytea' },
    sealed_with: { type: 'text' },
  },
  indices: [{ name: 'audit_heads_sealed_with', columns: ['sealed_with'] }],
});

/** Erasures of applicants, each with who asked for it. `outcome` is null until the applications service has answered. */
const applicantErasures = new EntitySchema({
  name: 'applicant_erasures',
  columns: {
    applicant_id: { type: 'uuid', primary: true },
    retailer_id: { type: 'uuid', primary: true },
    actor_kind: { type: 'text' },
    actor: { type: 'text' },
    request_id: { type: 'text', nullable: true },
    requested_at: { type: 'timestamptz' },
    outcome: { type: 'text', nullable: true },
    due_at: { type: 'timestamptz', default: () => 'now()' },
    attempts: { type: 'integer', default: 0 },
    data_erased_at: { type: 'timestamptz', nullable: true },
  },
  indices: [
    {
      name: 'applicant_erasures_unfinished',
      columns: ['requested_at'],
      where: 'outcome IS NULL',
    },
    { name: 'applicant_erasures_due', columns: ['due_at'], where: 'outcome IS NULL' },
  ],
});

/** The callers' own ids of requests that got a pull of another request: repeated, each leads to the same pull. */
const joinedRequests = new EntitySchema({
  name: 'joined_requests',
  columns: {
    applicant_id: { type: 'uuid', primary: true },
    request_key: { type: 'text', primary: true },
    retailer_id: { type: 'uuid' },
    pull_id: { type: 'uuid' },
  },
});

/**
 * Whom the forced pulls of the last day were about, by keyed digests of what applicants have in common who are one person. The
 * rows of an applicant end with an erasure.
 */
const forcedPulls = new EntitySchema({
  name: 'forced_pulls',
  columns: {
    person_digest: { type: 'bytea', primary: true },
    pull_id: { type: 'uuid', primary: true },
    applicant_id: { type: 'uuid' },
    retailer_id: { type: 'uuid' },
    requested_at: { type: 'timestamptz' },
  },
  indices: [{ name: 'forced_pulls_applicant', columns: ['applicant_id'] }],
});

/**
 * The openings of a link to a document in one minute, from the first one until the minute is over. `record` is the first
 * one's record in the audit log, which gets another one with the number of `repeats`.
 */
const documentOpenings = new EntitySchema({
  name: 'document_openings',
  columns: {
    minute: { type: 'timestamptz', primary: true },
    file_id: { type: 'uuid', primary: true },
    expires_at: { type: 'timestamptz', primary: true },
    retailer_id: { type: 'uuid' },
    record: { type: 'jsonb' },
    repeats: { type: 'integer' },
    last_at: { type: 'timestamptz' },
  },
});

/** The integrations that were given a link to a document, until the link expires. */
const documentLinks = new EntitySchema({
  name: 'document_links',
  columns: {
    file_id: { type: 'uuid', primary: true },
    expires_at: { type: 'timestamptz', primary: true },
    integration_id: { type: 'uuid', primary: true },
    retailer_context: { type: 'uuid', nullable: true },
    retailer_id: { type: 'uuid' },
    application_id: { type: 'uuid' },
  },
  indices: [{ name: 'document_links_expires_at', columns: ['expires_at'] }],
});

/** All tables, for the data source. */
export const TABLES = [
  pulls,
  joinedRequests,
  forcedPulls,
  creditFiles,
  bureauCredentials,
  applicantKeys,
  applicantErasures,
  auditRecords,
  auditHeads,
  documentOpenings,
  documentLinks,
];

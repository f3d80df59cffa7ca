// The applications service's records: all its SQL, beside the statements it names. Writes take their `tx` first.
import { toJson } from '@bufbuild/protobuf';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { SealedRecord, SealedTable } from '@creditlane/crypto/rotation';
import { answerOnce, type Idempotency } from '@creditlane/idempotency/stored-answers';
import type { Database } from '@creditlane/postgres/database';
import type { Queryable } from '@creditlane/postgres/statement';
import { inTransaction } from '@creditlane/postgres/transaction';
import {
  type Applicant,
  type Application,
  ApplicationStatus,
  ApplicationType,
  Relationship,
  type Worksheet,
  WorksheetSchema,
} from '@creditlane/proto/applications/v1/application';
import { isUuid } from '@creditlane/runtime/ids';
import { type EntitySchema, In, Not } from 'typeorm';
import { applicationFromRow, worksheetFromJson } from './rows.ts';
import { applicantContext, sealApplicant } from './sealed-applicant.ts';
import * as sql from './statements.ts';
import type { SubmissionFacts } from './submission.ts';
import { type ApplicantRole, applicants, applications } from './tables.ts';

/** A submission as the decisions service asks for it. */
export interface SubmissionRecord {
  retailerId: string;
  worksheet: Worksheet;
  submittedAt: Date;
}

/** What is written for a submission, to each of its creditors alike. */
export interface NewSubmission {
  applicationId: string;
  creditorIds: readonly string[];
  applicantIds: readonly string[];
  userId: string;
  integrationId: string;
  worksheet: Worksheet;
  submittedAt: Date;
}

interface SealedApplicant extends SealedRecord {
  id: string;
}

export class Store implements SealedTable<SealedApplicant> {
  readonly #database: Database;
  readonly #keyRing: KeyRing;

  constructor(database: Database, keyRing: KeyRing) {
    this.#database = database;
    this.#keyRing = keyRing;
  }

  inTransaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T> {
    return inTransaction(this.#database.pool, work);
  }

  /** See `answerOnce` of the idempotency keys. */
  answerOnce(idempotency: Idempotency | undefined, write: () => Promise<Uint8Array>) {
    return answerOnce(this.#database.pool, idempotency, write);
  }

  /** Puts a record of the directory down, or replaces the one that has its id. */
  async save<Row extends { id: string }>(table: EntitySchema<Row>, row: Row): Promise<void> {
    await this.#database.dataSource.getRepository<{ id: string }>(table).upsert(row, ['id']);
  }

  /** Those of the ids that the directory's table has. */
  async known(table: EntitySchema<{ id: string }>, ids: readonly string[]): Promise<Set<string>> {
    const rows = await this.#database.dataSource
      .getRepository(table)
      .findBy({ id: In(ids.filter(isUuid)) });
    return new Set(rows.map(({ id }) => id));
  }

  /**
   * The retailer that an application belongs to, and whether the one of the context, which may be
   * null, is that one or of its group.
   */
  async locate(
    applicationId: string,
    contextRetailerId: string | null,
  ): Promise<{ retailerId: string; inContext: boolean } | undefined> {
    const ids = [applicationId, contextRetailerId];
    const [row] = await sql.locateApplication.run(this.#database.pool, ids);
    return row && { retailerId: row.retailer_id, inContext: row.in_context === true };
  }

  async findSubmission(
    applicationId: string,
    creditorId: string,
  ): Promise<SubmissionRecord | undefined> {
    const key = [applicationId, creditorId];
    const [row] = await sql.findSubmission.run(this.#database.pool, key);
    return (
      row && {
        retailerId: row.retailer_id,
        worksheet: worksheetFromJson(row.worksheet),
        submittedAt: row.submitted_at,
      }
    );
  }

  /** A retailer's application, its applicants in the clear: nothing to show or log as it is. */
  async find(applicationId: string, retailerId: string): Promise<Application | undefined> {
    const row = await this.#database.dataSource.getRepository(applications).findOne({
      where: { id: applicationId, retailerId },
      relations: { applicants: true, submissions: true },
      // In three queries: joined, each submission would come with each applicant.
      relationLoadStrategy: 'query',
    });
    return row ? applicationFromRow(row, this.#keyRing) : undefined;
  }

  async retailerExists(tx: Queryable, retailerId: string): Promise<boolean> {
    return (await sql.findRetailer.run(tx, [retailerId])).length > 0;
  }

  /** Writes an application with its applicants, or gives the id of the one that has its reference. */
  async add(tx: Queryable, application: Application): Promise<{ takenBy?: string }> {
    const { applicationId, retailerId, referenceNumber, relationship, createdAt } = application;
    const reference = referenceNumber || null;
    const inserted = await sql.insertApplication.run(tx, [
      applicationId,
      retailerId,
      ApplicationType[application.type],
      ApplicationStatus[application.status],
      reference,
      relationship === Relationship.UNSPECIFIED ? null : Relationship[relationship],
      createdAt && timestampDate(createdAt),
    ]);
    if (inserted.length === 0) {
      const [taken] = await sql.findReference.run(tx, [retailerId, reference]);
      return { takenBy: taken?.id ?? '' };
    }
    const { primaryApplicant, coApplicant } = application;
    if (primaryApplicant) await this.#addApplicant(tx, application, 'PRIMARY', primaryApplicant);
    if (coApplicant) await this.#addApplicant(tx, application, 'CO', coApplicant);
    return {};
  }

  async #addApplicant(
    tx: Queryable,
    { applicationId, retailerId }: Application,
    role: ApplicantRole,
    applicant: Applicant,
  ): Promise<void> {
    const sealed = sealApplicant(this.#keyRing, applicant, retailerId);
    const { currentId } = this.#keyRing;
    const values = [applicant.applicantId, applicationId, role, sealed, currentId];
    await sql.insertApplicant.run(tx, values);
  }

  /** Locks a retailer's application until `tx` ends, and says its status. */
  async lock(tx: Queryable, applicationId: string, retailerId: string) {
    const [row] = await sql.lockApplication.run(tx, [applicationId, retailerId]);
    return row && { archived: row.status === ApplicationStatus[ApplicationStatus.ARCHIVED] };
  }

  /** What a submission of a locked application is to be judged by. */
  async readFacts(
    tx: Queryable,
    applicationId: string,
    userId: string,
    creditorIds: readonly string[],
  ): Promise<Omit<SubmissionFacts, 'archived'>> {
    const [row] = await sql.readFacts.run(tx, [applicationId, userId, creditorIds]);
    if (!row) throw new Error('a locked application is gone');
    return {
      retailer: { id: row.retailer_id, retailerGroupId: row.retailer_group_id },
      applicantIds: row.applicant_ids,
      user: row.submitter ?? undefined,
      knownCreditorIds: new Set(row.known_creditor_ids),
      submittedCreditorIds: new Set(row.submitted_creditor_ids),
    };
  }

  /** Writes the submissions of a locked application, and each applicant's consent. */
  async addSubmissions(tx: Queryable, submission: NewSubmission): Promise<void> {
    const { applicationId, userId, integrationId, submittedAt } = submission;
    const worksheet = toJson(WorksheetSchema, submission.worksheet);
    await sql.insertSubmissions.run(tx, [
      applicationId,
      submission.creditorIds,
      userId,
      integrationId,
      JSON.stringify(worksheet),
      submittedAt,
    ]);
    const consents = [submission.applicantIds, userId, integrationId, submittedAt];
    await sql.insertConsents.run(tx, consents);
    const status = ApplicationStatus[ApplicationStatus.SUBMITTED];
    await sql.setStatus.run(tx, [applicationId, status]);
  }

  async findSealedWithOtherKey(keyId: string, limit: number): Promise<SealedApplicant[]> {
    const rows = await this.#database.dataSource.getRepository(applicants).find({
      where: { sealedWith: Not(keyId) },
      relations: { application: true },
      take: limit,
    });
    return rows.map(({ id, application, sealed }) => ({
      id,
      context: applicantContext(id, application.retailerId),
      sealed,
    }));
  }

  async replaceSealed(read: SealedApplicant, sealed: Buffer, keyId: string): Promise<void> {
    await this.#database.dataSource
      .getRepository(applicants)
      .update({ id: read.id, sealed: read.sealed }, { sealed, sealedWith: keyId });
  }
}

/** Writes sealed applicants, and finds the applicants to wrap again after a change of the key ring. */
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { SealedRecord, SealedTable } from '@creditlane/crypto/rotation';
import type { Database } from '@creditlane/postgres/database';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import type { Applicant, Application } from '@creditlane/proto/applications/v1/application';
import { Not } from 'typeorm';
import { applicantContext, sealApplicant } from '../applicant/sealed-applicant.ts';
import { type ApplicantRole, applicants } from '../tables.ts';

const insertRow = defineStatement(
  'applicant_insert',
  `INSERT INTO applicants (id, application_id, role, sealed, sealed_with)
   VALUES ($1, $2, $3, $4, $5)`,
);

export async function insertApplicant(
  tx: Queryable,
  keyRing: KeyRing,
  { applicationId, retailerId }: Application,
  role: ApplicantRole,
  applicant: Applicant,
): Promise<void> {
  const sealed = sealApplicant(keyRing, applicant, retailerId);
  const { applicantId } = applicant;
  await insertRow.run(tx, [applicantId, applicationId, role, sealed, keyRing.currentId]);
}

interface SealedApplicant extends SealedRecord {
  id: string;
}

export class SealedApplicants implements SealedTable<SealedApplicant> {
  readonly #dataSource: Database['dataSource'];

  constructor({ dataSource }: Database) {
    this.#dataSource = dataSource;
  }

  async findSealedWithOtherKey(keyId: string, limit: number): Promise<SealedApplicant[]> {
    const rows = await this.#dataSource.getRepository(applicants).find({
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
    await this.#dataSource
      .getRepository(applicants)
      .update({ id: read.id, sealed: read.sealed }, { sealed, sealedWith: keyId });
  }
}

/** Finds the sealed rows to wrap again after a change of the key ring: applicants and exports. */
import type { SealContext } from '@creditlane/crypto/envelope';
import type { SealedRecord, SealedTable } from '@creditlane/crypto/rotation';
import type { Database } from '@creditlane/postgres/database';
import { type EntitySchema, Not, type Repository } from 'typeorm';
import type { SealedRow } from '../tables.ts';

interface SealedRowRecord extends SealedRecord {
  id: string;
}

export class SealedRows implements SealedTable<SealedRowRecord> {
  readonly #rows: Repository<SealedRow>;
  readonly #contextOf: (id: string, retailerId: string) => SealContext;

  constructor(
    { dataSource }: Database,
    table: EntitySchema<SealedRow>,
    contextOf: (id: string, retailerId: string) => SealContext,
  ) {
    this.#rows = dataSource.getRepository(table);
    this.#contextOf = contextOf;
  }

  async findSealedWithOtherKey(keyId: string, limit: number): Promise<SealedRowRecord[]> {
    const rows = await this.#rows.find({
      where: { sealedWith: Not(keyId) },
      relations: { application: true },
      take: limit,
    });
    return rows.map(({ id, application, sealed }) => ({
      id,
      context: this.#contextOf(id, application.retailerId),
      sealed,
    }));
  }

  async replaceSealed(read: SealedRowRecord, sealed: Buffer, keyId: string): Promise<void> {
    const unchanged = { id: read.id, sealed: read.sealed };
    await this.#rows.update(unchanged, { sealed, sealedWith: keyId });
  }
}

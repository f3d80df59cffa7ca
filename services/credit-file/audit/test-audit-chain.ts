/** For the tests of the audit log: a database, and the chain of one retailer that somebody may tamper with. */
import { randomUUID } from 'node:crypto';
import { inTransaction } from '@creditlane/postgres/transaction';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { aRead, openCustodyDatabase, RING } from '../custody/test-custody.ts';
import { appendAuditRecord } from './audit-log.ts';
import type { AuditRecord } from './audit-record.ts';

/** A database for all tests of a file, and a retailer without records for each. */
export function useAuditChain() {
  let database: Awaited<ReturnType<typeof openCustodyDatabase>>;
  let retailerId: string;
  beforeAll(async () => {
    database = await openCustodyDatabase();
  });
  afterAll(() => database?.close());
  beforeEach(() => {
    retailerId = randomUUID();
  });

  /** Appends as a request does. */
  function append(record: AuditRecord): Promise<void> {
    const scoped = database.requests.within({ retailers: [record.retailerId] });
    return inTransaction(scoped, (tx) => appendAuditRecord(tx, RING, record));
  }

  return {
    get database() {
      return database;
    },
    get retailerId() {
      return retailerId;
    },
    append,

    async appendReads(count: number): Promise<void> {
      for (let read = 0; read < count; read += 1) await append(aRead(retailerId));
    },

    /** The head as it is stored, in hex. */
    async sealedHead(): Promise<string> {
      const { rows } = await database.pool.query(
        'SELECT sealed FROM audit_heads WHERE retailer_id = $1',
        [retailerId],
      );
      return rows[0].sealed.toString('hex');
    },

    /** Runs statements as somebody with every privilege on the database does, without triggers. THIS means the retailer's rows. */
    async tamper(...statements: string[]): Promise<void> {
      await database.pool.query('GRANT UPDATE, DELETE ON audit_records TO CURRENT_USER');
      await database.pool.query('GRANT DELETE ON audit_heads TO CURRENT_USER');
      await database.pool.query('ALTER TABLE audit_records DISABLE TRIGGER USER');
      for (const text of statements) {
        await database.pool.query(text.replaceAll('THIS', `retailer_id = '${retailerId}'`));
      }
      await database.pool.query('ALTER TABLE audit_records ENABLE TRIGGER USER');
      await database.pool.query('REVOKE UPDATE, DELETE ON audit_records FROM CURRENT_USER');
      await database.pool.query('REVOKE DELETE ON audit_heads FROM CURRENT_USER');
    },
  };
}

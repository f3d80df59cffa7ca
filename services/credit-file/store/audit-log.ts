/** Writes and reads the audit log and the heads of its chains. */
import type { SealedValue } from '@creditlane/crypto/sealed-column';
import { defineStatement, type Query, type Queryable } from '@creditlane/postgres/statement';
import { type AuditRecord, NO_HASH } from '../audit/audit-record.ts';

/** A record with its place in its retailer's chain. */
export interface ChainedRecord extends AuditRecord {
  seq: number;
  hash: Buffer;
}

const selectHeadForUpdate = defineStatement<{ sealed: Buffer }>(
  'audit_head_lock',
  'SELECT sealed FROM audit_heads WHERE retailer_id = $1 FOR UPDATE',
);

const insertHead = defineStatement(
  'audit_head_insert',
  `INSERT INTO audit_heads (retailer_id, sealed, sealed_with) VALUES ($1, $2, $3)
   ON CONFLICT (retailer_id) DO NOTHING`,
);

/** The sealed head of a retailer's chain, locked until the transaction ends; made if there is none. */
export async function lockHead(
  tx: Queryable,
  retailerId: string,
  makeEmptyHead: () => SealedValue,
): Promise<Buffer> {
  const [head] = await selectHeadForUpdate.run(tx, [retailerId]);
  if (head !== undefined) return head.sealed;
  const { sealed, sealedWith } = makeEmptyHead();
  await insertHead.run(tx, [retailerId, sealed, sealedWith]);
  const [made] = await selectHeadForUpdate.run(tx, [retailerId]);
  if (made === undefined) throw new Error('a head of the audit log was inserted and is not found');
  return made.sealed;
}

const updateHead = defineStatement(
  'audit_head_replace',
  'UPDATE audit_heads SET sealed = $2, sealed_with = $3 WHERE retailer_id = $1',
);

/** Replaces a head that the transaction has locked. */
export function replaceHeadQuery(retailerId: string, head: SealedValue): Query<unknown> {
  return updateHead.query([retailerId, head.sealed, head.sealedWith]);
}

const insertRow = defineStatement(
  'audit_record_insert',
  `INSERT INTO audit_records (retailer_id, seq, recorded_at, action, actor_kind, actor, request_id, purpose,
     application_id, applicant_id, pull_id, file_id, consent_id, source, outcome, hash, retailer_context)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
);

export function insertRecordQuery(record: ChainedRecord): Query<unknown> {
  const { retailerId, seq, at, action, actor, requestId, purpose, source, outcome } = record;
  const { applicationId, applicantId, pullId, fileId, consentId, hash, retailerContext } = record;
  const head = [retailerId, seq, at, action, actor.kind, actor.id, requestId, purpose];
  return insertRow.query([
    ...head,
    ...[applicationId, applicantId, pullId, fileId, consentId, source, outcome, hash],
    retailerContext,
  ]);
}

const selectRetailers = defineStatement<{ retailer_id: string }>(
  'audit_retailers',
  `SELECT retailer_id FROM audit_heads UNION SELECT retailer_id FROM audit_records
   UNION SELECT retailer_id FROM pulls ORDER BY retailer_id`,
);

/** The retailers that have a chain, a record, or a pull, which has records. */
export async function findRecordedRetailers(db: Queryable): Promise<string[]> {
  return (await selectRetailers.run(db)).map(({ retailer_id }) => retailer_id);
}

/** A pull whose row says more than its records do. */
export interface UnrecordedPull {
  id: string;
  /** The action that has no record, or none with the pull's outcome. */
  action: AuditRecord['action'];
}

// Of several ends the last one counts: a late answer replaces UNKNOWN.
const selectUnrecordedPull = defineStatement<UnrecordedPull>(
  'audit_unrecorded_pull',
  `SELECT pulls.id, CASE WHEN requested IS NULL THEN 'PULL_REQUESTED'
       WHEN sent_at IS NOT NULL AND sent IS NULL THEN 'PULL_SENT'
       ELSE 'PULL_FINISHED' END AS action
   FROM pulls CROSS JOIN LATERAL (
     SELECT max(seq) FILTER (WHERE action = 'PULL_REQUESTED') AS requested,
       max(seq) FILTER (WHERE action = 'PULL_SENT') AS sent,
       (array_agg(outcome ORDER BY seq DESC) FILTER (WHERE action = 'PULL_FINISHED'))[1] AS ended
     FROM audit_records WHERE pull_id = pulls.id
   ) AS records
   WHERE pulls.retailer_id = $1 AND (requested IS NULL OR (sent_at IS NOT NULL AND sent IS NULL)
     OR (finished_at IS NOT NULL AND ended IS DISTINCT FROM coalesce(failure, state)))
   LIMIT 1`,
);

/** A pull of the retailer whose request, sending or end has no record. */
export async function findUnrecordedPull(
  db: Queryable,
  retailerId: string,
): Promise<UnrecordedPull | undefined> {
  const [row] = await selectUnrecordedPull.run(db, [retailerId]);
  return row;
}

const selectHead = defineStatement<{ sealed: Buffer }>(
  'audit_head_find',
  'SELECT sealed FROM audit_heads WHERE retailer_id = $1',
);

/** The sealed head of a retailer's chain. */
export async function findHead(db: Queryable, retailerId: string): Promise<Buffer | undefined> {
  const [row] = await selectHead.run(db, [retailerId]);
  return row?.sealed;
}

/** A record as a statement returns it: null where the record has nothing. */
type RecordRow = Omit<ChainedRecord, 'actor'> & {
  actorKind: AuditRecord['actor']['kind'];
  actorId: string;
};

const RECORD_COLUMNS = `record.retailer_id AS "retailerId", record.seq, record.recorded_at AS at, record.action,
    record.actor_kind AS "actorKind", record.actor AS "actorId", record.request_id AS "requestId", record.purpose,
    record.application_id AS "applicationId", record.applicant_id AS "applicantId", record.pull_id AS "pullId",
    record.file_id AS "fileId", record.consent_id AS "consentId", record.source, record.outcome, record.hash,
    record.retailer_context AS "retailerContext"`;

const selectRecords = defineStatement<RecordRow>(
  'audit_records_after',
  `SELECT ${RECORD_COLUMNS}
   FROM audit_records AS record WHERE retailer_id = $1 AND seq > $2 ORDER BY seq LIMIT $3`,
);

/** The next records of a retailer's chain. */
export async function findRecordsAfter(
  db: Queryable,
  retailerId: string,
  seq: number,
  limit: number,
): Promise<ChainedRecord[]> {
  return (await selectRecords.run(db, [retailerId, seq, limit])).map(toRecord);
}

const selectPullRecords = defineStatement<RecordRow & { previousHash: Buffer | null }>(
  'audit_records_of_pull',
  `SELECT ${RECORD_COLUMNS}, previous.hash AS "previousHash"
   FROM audit_records AS record
   LEFT JOIN audit_records AS previous
     ON previous.retailer_id = record.retailer_id AND previous.seq = record.seq - 1
   WHERE record.pull_id = $1 ORDER BY record.seq`,
);

/** The records of a pull in their order, each with the hash of the record before it in the retailer's chain. */
export async function findPullRecords(
  db: Queryable,
  pullId: string,
): Promise<(ChainedRecord & { previousHash: Buffer | null })[]> {
  const rows = await selectPullRecords.run(db, [pullId]);
  return rows.map(({ previousHash, ...row }) => ({ ...toRecord(row), previousHash }));
}

function toRecord({ actorKind: kind, actorId: id, ...record }: RecordRow): ChainedRecord {
  return { ...record, actor: { kind, id } };
}

const selectHashes = defineStatement<{ retailerId: string; hash: Buffer }>(
  'audit_record_hashes',
  `SELECT record.retailer_id AS "retailerId", record.hash
   FROM unnest($1::uuid[], $2::bigint[]) AS asked (retailer_id, seq)
   JOIN audit_records AS record USING (retailer_id, seq)`,
);

/** By retailer, the hash of one record of its chain; none where the record is missing. */
export async function findHashes(
  db: Queryable,
  places: readonly { retailerId: string; seq: number }[],
): Promise<Map<string, Buffer>> {
  const retailerIds = places.map(({ retailerId }) => retailerId);
  const seqs = places.map(({ seq }) => seq);
  const rows = await selectHashes.run(db, [retailerIds, seqs]);
  return new Map(rows.map(({ retailerId, hash }) => [retailerId, hash]));
}

// Retailers with records and without a head have a chain, too. They are read one by one from the primary key, because the
// table has many records of each.
const selectChains = defineStatement<
  { chain_retailer_id: string; sealed: Buffer | null; previousHash: Buffer | null } & (
    | RecordRow
    | { seq: null }
  )
>(
  'audit_chains_after',
  `WITH RECURSIVE recorded AS (
     (SELECT retailer_id FROM audit_records
      WHERE retailer_id > coalesce(nullif($1, '')::uuid, '00000000-0000-0000-0000-000000000000')
      ORDER BY retailer_id LIMIT 1)
     UNION ALL
     SELECT next.retailer_id FROM recorded CROSS JOIN LATERAL (
       SELECT record.retailer_id FROM audit_records AS record
       WHERE record.retailer_id > recorded.retailer_id ORDER BY record.retailer_id LIMIT 1) AS next
   ), chains AS (
     (SELECT retailer_id FROM recorded LIMIT $2)
     UNION
     (SELECT retailer_id FROM audit_heads
      WHERE retailer_id > coalesce(nullif($1, '')::uuid, '00000000-0000-0000-0000-000000000000')
      ORDER BY retailer_id LIMIT $2)
     ORDER BY retailer_id LIMIT $2
   )
   SELECT chains.retailer_id AS chain_retailer_id, heads.sealed, last.*
   FROM chains LEFT JOIN audit_heads AS heads ON heads.retailer_id = chains.retailer_id
   LEFT JOIN LATERAL (
     SELECT ${RECORD_COLUMNS}, previous.hash AS "previousHash"
     FROM audit_records AS record
     LEFT JOIN audit_records AS previous
       ON previous.retailer_id = record.retailer_id AND previous.seq = record.seq - 1
     WHERE record.retailer_id = chains.retailer_id ORDER BY record.seq DESC LIMIT 1
   ) AS last ON true
   ORDER BY chains.retailer_id`,
);

/** The end of a chain: its head as it is stored, its last record, and the hash before that. */
export interface ChainEnd {
  retailerId: string;
  sealed: Buffer | undefined;
  record: ChainedRecord | undefined;
  previousHash: Buffer;
}

/** The chains after that of a retailer, with a head or a record, in the order of their ids, as of one moment. */
export async function findChainEnds(
  db: Queryable,
  after: string,
  limit: number,
): Promise<ChainEnd[]> {
  const rows = await selectChains.run(db, [after, limit]);
  return rows.map(({ chain_retailer_id: retailerId, sealed, previousHash, ...row }) => ({
    retailerId,
    sealed: sealed ?? undefined,
    record: row.seq === null ? undefined : toRecord(row),
    previousHash: previousHash ?? NO_HASH,
  }));
}

import { randomBytes, randomUUID } from 'node:crypto';
import { defineStatement } from '@creditlane/postgres/statement';
import { type OpenTestDatabase, openTestDatabase } from '@creditlane/postgres/test-open-database';
import { watchSentQueries } from '@creditlane/postgres/test-sent-queries';
import { silentLog } from '@creditlane/runtime/test-log';
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest';
import { readKeyId, UnknownKeyError, unseal } from './envelope.ts';
import { KeyRing, parseKeyRing } from './key-ring.ts';
import { requireKeys, rewrapTable, rewrapTables, startRotation } from './rotation.ts';
import { defineSealedField } from './sealed-column.ts';

const OLD = `k1:${randomBytes(32).toString('base64')}`;
const NEW = `k2:${randomBytes(32).toString('base64')}`;
const ringOf = (...keys: string[]) => KeyRing.parse(keys.join(','));
const TENANT = randomUUID();

let database: OpenTestDatabase;
beforeAll(async () => {
  database = await openTestDatabase('rotation', [
    'CREATE TABLE things (id uuid PRIMARY KEY, tenant_id uuid NOT NULL, sealed bytea, sealed_with text)',
    'CREATE INDEX things_sealed_with ON things (sealed_with)',
  ]);
});
afterAll(() => database?.close());
beforeEach(() => database.pool.query('TRUNCATE things'));

const sealedThings = defineSealedField({
  table: 'things',
  column: 'sealed',
  primaryKey: { id: 'uuid' },
  tenantSql: 'tenant_id',
});
const things = () => sealedThings.column(database.pool);

const insertRow = defineStatement('insert_thing', 'INSERT INTO things VALUES ($1, $2, $3, $4)');

/** Inserts a record as a process with this ring does. */
async function insert(ring: KeyRing): Promise<string> {
  const id = randomUUID();
  const { sealed, sealedWith } = sealedThings.seal(ring, Buffer.from(id), id, TENANT);
  await insertRow.run(database.pool, [id, TENANT, sealed, sealedWith]);
  return id;
}

async function insertMany(ring: KeyRing, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => insert(ring)));
}

/** The ids of the keys that wrap the records, each of which opens with the ring. */
async function keyIdsOpenedBy(ring: KeyRing): Promise<string[]> {
  const { rows } = await database.pool.query('SELECT * FROM things ORDER BY id');
  for (const { id, sealed, sealed_with } of rows) {
    expect(readKeyId(sealed)).toBe(sealed_with);
    expect(unseal(ring, sealed, sealedThings.context(id, TENANT)).toString()).toBe(id);
  }
  return [...new Set(rows.map(({ sealed_with }) => sealed_with))];
}

describe('in a large table', () => {
  /** How many blocks the query reads, with the plan that a service's connections make. */
  async function blocksOf(work: () => Promise<unknown>): Promise<number> {
    const sent = watchSentQueries();
    await work();
    const [{ text = '', values = [] } = {}] = sent();
    vi.restoreAllMocks();
    const literals = values.map((value) => (typeof value === 'string' ? `'${value}'` : value));
    const client = await database.pool.connect();
    try {
      await client.query(`PREPARE measured AS ${text}`);
      const { rows } = await client.query(
        `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE measured ${literals.length > 0 ? `(${literals})` : ''}`,
      );
      await client.query('DEALLOCATE measured');
      const [{ Plan: plan }] = rows[0]['QUERY PLAN'];
      return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
    } finally {
      client.release();
    }
  }

  test('the keys, and the few records of another key, are found without reading the table', async () => {
    await database.pool.query(
      `INSERT INTO things SELECT gen_random_uuid(), $1, decode(repeat('00', 400), 'hex'), 'k2'
       FROM generate_series(1, 10000)`,
      [TENANT],
    );
    await insert(ringOf(OLD));
    await database.pool.query('ANALYZE things');
    const { rows } = await database.pool.query(
      "SELECT pg_relation_size('things') / 8192 AS blocks",
    );
    expect(Number(rows[0].blocks)).toBeGreaterThan(500);
    const table = things();
    expect(await table.findKeyIds()).toEqual(['k1', 'k2']);
    expect(await blocksOf(() => table.findKeyIds())).toBeLessThan(30);
    expect(await blocksOf(() => table.findSealedWith('k1', 200, 0))).toBeLessThan(30);
    expect(await blocksOf(() => table.findSealedWith('k0', 200, 0))).toBeLessThan(30);
  });
});

describe('a rotation', () => {
  test('of more than one batch by three processes at once wraps each record once', async () => {
    await insertMany(ringOf(OLD), 450);
    const both = ringOf(NEW, OLD);
    const rotations = await Promise.all([1, 2, 3].map(() => rewrapTable(both, things())));
    expect(rotations.reduce((sum, { rewrapped }) => sum + rewrapped, 0)).toBe(450);
    expect(await rewrapTable(both, things())).toEqual({ rewrapped: 0, left: 0 });
    expect(await keyIdsOpenedBy(ringOf(NEW))).toEqual(['k2']);
  });

  test('of a batch that another process wraps at the same time leaves no record', async () => {
    await insertMany(ringOf(OLD), 5);
    const both = ringOf(NEW, OLD);
    const table = things();
    const replace = table.replaceSealed.bind(table);
    vi.spyOn(table, 'replaceSealed').mockImplementationOnce(async (records, keyId) => {
      expect(await rewrapTable(both, things())).toEqual({ rewrapped: 5, left: 0 });
      return replace(records, keyId);
    });
    expect(await rewrapTable(both, table)).toEqual({ rewrapped: 0, left: 0 });
  });

  test('while processes still write with the old key loses nothing, and ends without it afterwards', async () => {
    const [before, after] = [ringOf(OLD, NEW), ringOf(NEW, OLD)];
    await insertMany(before, 50);
    const writes = Promise.all([insertMany(before, 100), insertMany(after, 100)]);
    await Promise.all([writes, rewrapTable(after, things())]);
    // Before the last process with the earlier ring ends, each ring opens every record.
    await keyIdsOpenedBy(before);
    await keyIdsOpenedBy(after);
    expect(await rewrapTables(after, [things()], () => {})).toBe(true);
    expect(await keyIdsOpenedBy(ringOf(NEW))).toEqual(['k2']);
  });

  test('passes over a damaged and a locked record, wraps the others, and tells how many are left', async () => {
    const [old, both] = [ringOf(OLD), ringOf(NEW, OLD)];
    const [damaged, locked] = [await insert(old), await insert(old)];
    await insertMany(old, 300);
    const swapWrappedKey = `UPDATE things SET sealed = set_byte(sealed, 20, get_byte(sealed, 20) # 1)
      WHERE id = $1`;
    await database.pool.query(swapWrappedKey, [damaged]);
    const holder = await database.pool.connect();
    try {
      await holder.query('BEGIN');
      await holder.query('SELECT FROM things WHERE id = $1 FOR UPDATE', [locked]);
      expect(await rewrapTable(both, things())).toEqual({ rewrapped: 300, left: 2 });
    } finally {
      await holder.query('ROLLBACK');
      holder.release();
    }
    expect(await rewrapTable(both, things())).toEqual({ rewrapped: 1, left: 1 });
    const reported: object[] = [];
    const isDone = await rewrapTables(both, [things()], (it) => void reported.push(it));
    expect([isDone, reported]).toEqual([false, [{ table: 'things', rewrapped: 0, left: 1 }]]);
  });

  test('beside a service begins after the start, and ends when the service is closed', async () => {
    await insertMany(ringOf(OLD), 450);
    const both = ringOf(NEW, OLD);
    const table = things();
    const find = vi.spyOn(table, 'findSealedWith');
    const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    vi.spyOn(table, 'replaceSealed').mockImplementationOnce(async () => {
      begun.resolve();
      await held.promise;
      return 0;
    });
    const { close } = await startRotation(both, [table], silentLog);
    await begun.promise;
    const closed = close();
    held.resolve();
    await closed;
    expect(find).toHaveBeenCalledTimes(1);
    expect(await rewrapTables(both, [things()], () => {})).toBe(true);
  });

  test('beside a service begins again with another current key, and once more for what was written meanwhile', async () => {
    let keys = parseKeyRing(`${OLD},${NEW}`);
    await insertMany(ringOf(OLD), 3);
    const first = things();
    const last = things();
    let hasNewKey = false;
    let late: string | undefined;
    const findKeyIds = first.findKeyIds.bind(first);
    vi.spyOn(first, 'findKeyIds').mockImplementation(() => {
      hasNewKey = keys.current.id === 'k2';
      return findKeyIds();
    });
    vi.spyOn(last, 'findKeyIds').mockImplementation(async () => {
      // Another process still has the earlier file when a rotation with the new key has wrapped the first table.
      if (hasNewKey) late ??= await insert(ringOf(OLD, NEW));
      return [];
    });
    const times = { checkMs: 10, repeatMs: 50 };
    const ring = new KeyRing(() => keys);
    const { close } = await startRotation(ring, [first, last], silentLog, times);
    onTestFinished(close);
    keys = parseKeyRing(`${NEW},${OLD}`);
    await expect.poll(() => late).toBeDefined();
    await expect.poll(() => keyIdsOpenedBy(ringOf(NEW, OLD))).toEqual(['k2']);
  });

  test('beside a service wraps the other tables with another current key while one table fails', async () => {
    let keys = parseKeyRing(`${OLD},${NEW}`);
    await insertMany(ringOf(OLD), 3);
    const failing = things();
    const find = vi.spyOn(failing, 'findKeyIds').mockRejectedValue(new Error('away'));
    find.mockResolvedValueOnce(['k1']);
    const times = { checkMs: 10, repeatMs: 60_000 };
    const ring = new KeyRing(() => keys);
    const { close } = await startRotation(ring, [failing, things()], silentLog, times);
    onTestFinished(close);
    // The first call checks the keys at the start.
    await expect.poll(() => find.mock.calls.length).toBeGreaterThan(1);
    keys = parseKeyRing(`${NEW},${OLD}`);
    await expect.poll(() => keyIdsOpenedBy(ringOf(NEW, OLD))).toEqual(['k2']);
  });

  test('is refused with a ring that lacks the key of a record, with the key and the table', async () => {
    await insert(ringOf(OLD));
    const problem = 'the key ring does not contain the key k1, which wraps records of things';
    const refusal = expect.objectContaining({ name: UnknownKeyError.name, message: problem });
    await expect(requireKeys(ringOf(NEW), [things()])).rejects.toEqual(refusal);
    await expect(startRotation(ringOf(NEW), [things()], silentLog)).rejects.toEqual(refusal);
    await expect(rewrapTable(ringOf(NEW), things())).rejects.toEqual(refusal);
    await requireKeys(ringOf(NEW, OLD), [things()]);
  });
});

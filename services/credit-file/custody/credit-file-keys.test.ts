import { randomUUID } from 'node:crypto';
import { destroyKey, sealedKeys } from '@creditlane/crypto/applicant-keys';
import { readKeyId, SealError, UnknownKeyError } from '@creditlane/crypto/envelope';
import { KeyRing } from '@creditlane/crypto/key-ring';
import { rewrapTable } from '@creditlane/crypto/rotation';
import { inTransaction } from '@creditlane/postgres/transaction';
import { newId } from '@creditlane/runtime/ids';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ensureApplicantKey, openCreditFile, sealCreditFile } from './credit-file-keys.ts';
import { KEYS, NEXT_KEYS, openCustodyDatabase, RING } from './test-custody.ts';

const TEXT = '{"hitType":"HIT","subject":{"lastName":"Tremblay"}}';
const DEPS = { keyRing: RING, newId };

let database: Awaited<ReturnType<typeof openCustodyDatabase>>;
beforeAll(async () => {
  database = await openCustodyDatabase();
});
afterAll(() => database?.close());

const anApplicant = () => ({ applicantId: randomUUID(), retailerId: randomUUID() });
type Applicant = ReturnType<typeof anApplicant>;

/** The id of the applicant's key, as a request of a pull makes it. */
function request(applicant: Applicant): Promise<string> {
  const scoped = database.requests.within({ retailers: [applicant.retailerId] });
  return inTransaction(scoped, (tx) => ensureApplicantKey(tx, DEPS, applicant, new Date()));
}

/** The file of a pull that had this key. */
async function store(keyId: string) {
  const id = randomUUID();
  const sealed = await inTransaction(database.pool, (tx) =>
    sealCreditFile(tx, RING, { id, keyId, text: TEXT }),
  );
  return { id, keyId, sealed };
}

async function storeFileOf(applicant: Applicant) {
  const { id, keyId, sealed } = await store(await request(applicant));
  if (sealed === undefined) throw new Error('no key');
  return { id, keyId, sealed };
}

const erase = (applicant: Applicant) => destroyKey(database.pool, applicant, new Date());

test('a file is sealed with the key of its applicant, and opens again', async () => {
  const file = await storeFileOf(anApplicant());
  expect((await openCreditFile(database.pool, RING, file))?.text).toBe(TEXT);
  expect(file.sealed.includes('Tremblay')).toBe(false);
});

test('concurrent requests for one applicant get one key', async () => {
  const applicant = anApplicant();
  const ids = await Promise.all(Array.from({ length: 6 }, () => request(applicant)));
  expect(new Set(ids).size).toBe(1);
});

test('a request of another retailer neither makes nor finds a key of the applicant', async () => {
  const applicant = anApplicant();
  const keyId = await request(applicant);
  const scoped = database.requests.within({ retailers: [randomUUID()] });
  const forOther = inTransaction(scoped, (tx) =>
    ensureApplicantKey(tx, DEPS, applicant, new Date()),
  );
  await expect(forOther).rejects.toMatchObject({ code: '42501' });
  const file = { id: randomUUID(), keyId, sealed: Buffer.alloc(100) };
  expect(await openCreditFile(scoped, RING, file)).toBeUndefined();
});

test('a file of another row, or with the key of another applicant, does not open', async () => {
  const applicant = anApplicant();
  const [file, other] = [await storeFileOf(applicant), await storeFileOf(anApplicant())];
  const open = (swapped: typeof file) => openCreditFile(database.pool, RING, swapped);
  await expect(open({ ...file, id: other.id })).rejects.toThrow(SealError);
  await expect(open({ ...file, keyId: other.keyId })).rejects.toThrow(SealError);
  await expect(open({ ...file, sealed: other.sealed })).rejects.toThrow(SealError);
});

test('a stored key that was copied to another row or tenant does not open', async () => {
  const [file, other] = [await storeFileOf(anApplicant()), await storeFileOf(anApplicant())];
  await database.pool.query(
    `UPDATE applicant_keys SET sealed = source.sealed FROM applicant_keys AS source
     WHERE applicant_keys.id = $1 AND source.id = $2`,
    [file.keyId, other.keyId],
  );
  await expect(openCreditFile(database.pool, RING, file)).rejects.toThrow(SealError);
  await database.pool.query('UPDATE applicant_keys SET retailer_id = $2 WHERE id = $1', [
    other.keyId,
    randomUUID(),
  ]);
  await expect(openCreditFile(database.pool, RING, other)).rejects.toThrow(SealError);
});

test('after an erasure no file opens, and a pull under way stores none', async () => {
  const applicant = anApplicant();
  const file = await storeFileOf(applicant);
  expect(await erase(applicant)).toBe(true);
  expect(await erase(applicant)).toBe(false);
  expect(await openCreditFile(database.pool, RING, file)).toBeUndefined();
  expect(await store(file.keyId)).toMatchObject({ sealed: undefined });
  const { rows } = await database.pool.query(
    'SELECT sealed, sealed_with FROM applicant_keys WHERE id = $1',
    [file.keyId],
  );
  expect(rows).toEqual([{ sealed: null, sealed_with: null }]);
});

test('an erasure waits for the transaction that stores a file', async () => {
  const applicant = anApplicant();
  const keyId = await request(applicant);
  const file = { id: randomUUID(), keyId, text: TEXT };
  let isErased = false;
  let erasure: Promise<void> | undefined;
  await inTransaction(database.pool, async (tx) => {
    expect(await sealCreditFile(tx, RING, file)).toBeDefined();
    erasure = erase(applicant).then(() => {
      isErased = true;
    });
    const waiting = `SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await expect.poll(async () => (await database.pool.query(waiting)).rowCount).toBe(1);
    expect(isErased).toBe(false);
  });
  await erasure;
  expect(isErased).toBe(true);
});

test('a request after an erasure makes a new key, which opens no earlier file', async () => {
  const applicant = anApplicant();
  const before = await storeFileOf(applicant);
  await erase(applicant);
  const after = await storeFileOf(applicant);
  expect(after.keyId).not.toBe(before.keyId);
  expect((await openCreditFile(database.pool, RING, after))?.text).toBe(TEXT);
  expect(await openCreditFile(database.pool, RING, before)).toBeUndefined();
  await expect(
    openCreditFile(database.pool, RING, { ...before, keyId: after.keyId }),
  ).rejects.toThrow(SealError);
});

test('after a rotation no key names the old one, and files open without it', async () => {
  const file = await storeFileOf(anApplicant());
  await database.pool.query('DELETE FROM applicant_keys WHERE id <> $1', [file.keyId]);
  const both = KeyRing.parse(`${NEXT_KEYS},${KEYS}`);
  expect(await rewrapTable(both, sealedKeys.column(database.pool))).toEqual({
    rewrapped: 1,
    left: 0,
  });
  const { rows } = await database.pool.query('SELECT sealed, sealed_with FROM applicant_keys');
  expect(rows.map(({ sealed, sealed_with }) => [readKeyId(sealed), sealed_with])).toEqual([
    ['k2', 'k2'],
  ]);
  const next = KeyRing.parse(NEXT_KEYS);
  expect((await openCreditFile(database.pool, next, file))?.text).toBe(TEXT);
  await expect(openCreditFile(database.pool, RING, file)).rejects.toThrow(UnknownKeyError);
});

import { randomBytes } from 'node:crypto';
import { readKeyId } from '@creditlane/crypto/envelope';
import { KeyRing } from '@creditlane/crypto/key-ring';
import { rewrapTables } from '@creditlane/crypto/rotation';
import { expect, test } from 'vitest';
import { verifyChain } from './audit/verify-chain.ts';
import { sealedTables } from './store/sealed-tables.ts';
import { addApplicant, KEYS, read, readEnded, request, useApplicant } from './test-credit-file.ts';

const fixture = useApplicant();

test('while records are wrapped with a new key, reads and pulls go on; afterwards none names the old key', async () => {
  const { service } = fixture;
  const next = `k2:${randomBytes(32).toString('base64')}`;
  const both = `${next},${KEYS}`;
  const applicants = [];
  for (let n = 0; n < 2; n += 1) applicants.push(await addApplicant(service));
  for (const applicant of applicants) {
    await request(service, applicant);
    await readEnded(service, applicant);
  }
  // Every replica knows the new key before any of them wraps with it.
  await service.restart(`${KEYS},${next}`);
  const replica = await service.startReplica({ KEY_RING: both });
  const work = applicants.map(async (applicant) => {
    for (let n = 0; n < 2; n += 1) {
      expect((await read(replica, applicant)).file?.hitType).toBe('HIT');
      await request(replica, applicant, { force: true });
      expect((await readEnded({ ...service, client: replica.client }, applicant)).state).toBe(
        'COMPLETE',
      );
    }
  });
  const rewrap = () => rewrapTables(KeyRing.parse(both), sealedTables(service.sql), () => {});
  const rotate = async () => {
    for (let n = 0; n < 3; n += 1) await rewrap();
  };
  await Promise.all([...work, rotate()]);
  await service.stop();
  expect(await rewrap()).toBe(true);

  for (const table of ['applicant_keys', 'bureau_credentials', 'audit_heads']) {
    const { rows } = await service.sql.query(
      `SELECT sealed, sealed_with FROM ${table} WHERE sealed IS NOT NULL`,
    );
    expect(rows.length).toBeGreaterThan(0);
    expect(new Set(rows.map((row) => row.sealed_with))).toEqual(new Set(['k2']));
    expect(new Set(rows.map((row) => readKeyId(row.sealed)))).toEqual(new Set(['k2']));
  }
  // The old key is removed.
  await service.restart(next);
  for (const applicant of applicants) {
    expect((await read(service, applicant)).file?.hitType).toBe('HIT');
    expect(await verifyChain(service.sql, KeyRing.parse(next), applicant.retailerId)).toMatchObject(
      {
        kind: 'whole',
      },
    );
  }
});

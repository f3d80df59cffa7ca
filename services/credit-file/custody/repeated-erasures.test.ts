import { findLiveKeyId } from '@creditlane/crypto/applicant-keys';
import { expect, test } from 'vitest';
import { verifyChain } from '../audit/verify-chain.ts';
import { repeatErasures } from '../store/applicant-erasures.ts';
import type { TestSubject } from '../test-applications.ts';
import { read } from '../test-credit-file.ts';
import { keyOf, NOT_REQUESTED, OPERATOR, RING, useErasures } from './test-erasures.ts';

const { actionsOf, erase, eraseByCall, erasuresEnded, fixture, pool, pull, subjectOf } =
  useErasures();

test('data that came back with a backup of the applications service is erased again, with a record of its own', async () => {
  const { service, applicant } = fixture;
  const subject = subjectOf(applicant) as TestSubject;
  await eraseByCall(applicant);
  await erase(applicant);
  await erasuresEnded();
  expect(await actionsOf(applicant)).toEqual(['APPLICANT_DATA_ERASED']);

  service.applications.subjects.set(keyOf(applicant), subject);
  await erase(applicant);
  await erasuresEnded();
  expect(subjectOf(applicant)?.applicant?.lastName).toBe('');
  expect(await actionsOf(applicant)).toEqual(['APPLICANT_DATA_ERASED', 'APPLICANT_DATA_ERASED']);

  service.applications.subjects.set(keyOf(applicant), subject);
  expect(await repeatErasures(pool(), OPERATOR, new Date())).toBeGreaterThanOrEqual(1);
  await erasuresEnded();
  expect(subjectOf(applicant)?.applicant?.lastName).toBe('');
  const { rows } = await pool().query(
    `SELECT actor FROM audit_records WHERE applicant_id = $1 ORDER BY seq`,
    [applicant.applicantId],
  );
  expect(rows.map(({ actor }) => actor)).toEqual(['platform-key', OPERATOR.id, OPERATOR.id]);
  expect(await verifyChain(pool(), RING, applicant.retailerId)).toMatchObject({ kind: 'whole' });
});

test('files that came back with a backup of this service are erased again', async () => {
  const { service, applicant } = fixture;
  await pull(applicant);
  const copy = 'SELECT * FROM applicant_keys WHERE applicant_id = $1';
  const { rows } = await pool().query(copy, [applicant.applicantId]);
  await eraseByCall(applicant);
  const restore = `UPDATE applicant_keys SET sealed = $2, sealed_with = $3, destroyed_at = NULL
    WHERE id = $1`;
  await pool().query(restore, [rows[0].id, rows[0].sealed, rows[0].sealed_with]);
  await eraseByCall(applicant);
  expect(await findLiveKeyId(pool(), applicant)).toBeUndefined();
  expect((await actionsOf(applicant)).slice(-3)).toEqual([
    ...['APPLICANT_ERASED', 'APPLICANT_DATA_ERASED', 'APPLICANT_ERASED'],
  ]);
  await expect(read(service, applicant)).rejects.toMatchObject(NOT_REQUESTED);
});

test('files that a backup brought back are deleted, although a newer dump of the keys has destroyed their key', async () => {
  const { applicant } = fixture;
  await pull(applicant);
  const destroy = `UPDATE applicant_keys SET sealed = NULL, sealed_with = NULL, destroyed_at = now()
    WHERE applicant_id = $1`;
  await pool().query(destroy, [applicant.applicantId]);
  expect(await erase(applicant)).toEqual({ files: 1 });
  expect(await actionsOf(applicant)).toContain('APPLICANT_ERASED');
  expect(await erase(applicant)).toEqual({ files: 0 });
  const records = (await actionsOf(applicant)).filter((action) => action === 'APPLICANT_ERASED');
  expect(records).toHaveLength(1);
});

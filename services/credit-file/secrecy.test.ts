import { randomBytes, randomUUID } from 'node:crypto';
import { readKeyId, SealError, UnknownKeyError } from '@creditlane/crypto/envelope';
import { KeyRing } from '@creditlane/crypto/key-ring';
import { dumpTables } from '@creditlane/postgres/test-table-dump';
import { Source } from '@creditlane/proto/creditfile/v1/credit_file_service';
import { expect, test } from 'vitest';
import { openCredentials } from './bureau-credentials/sealed-credentials.ts';
import { answered } from './test-bureau.ts';
import { addApplicant, KEYS, read, readEnded, request, useApplicant } from './test-credit-file.ts';

const fixture = useApplicant();

test('no file, number, name or secret is readable in the database or the log', async () => {
  const { service, applicant } = fixture;
  await request(service, applicant, {
    idempotencyKey: randomUUID(),
    requestId: 'r-1',
    force: true,
  });
  await readEnded(service, applicant);
  const code = 'SIN 046454286 of Tremblay is not on file';
  service.bureau.answer = async () => answered({ kind: 'refused', reason: 'rejected', code });
  await request(service, applicant, { source: Source.TRANSUNION });
  await readEnded(service, applicant);

  const text = (await dumpTables(service.sql)) + service.log.join('\n');
  // The search finds data that is stored in the clear.
  expect(text).toContain(applicant.applicantId);
  const secrets = [
    '046454286',
    'Tremblay',
    'Birch',
    'U-4711',
    'XX-99',
    'sesame',
    'very-secret',
    '1987-04-12',
  ];
  for (const secret of [...secrets, 'tu-password', '999ZB12345', '4242ON1']) {
    expect(text).not.toContain(secret);
  }
});

test('credentials copied to another retailer or bureau cannot be opened', async () => {
  const { service, applicant } = fixture;
  const { retailerId } = applicant;
  const select = `SELECT sealed FROM bureau_credentials WHERE retailer_id = $1 AND source = 'EQUIFAX'`;
  const [{ sealed }] = (await service.sql.query(select, [retailerId])).rows;
  const ring = KeyRing.parse(KEYS);
  const row = { retailerId, source: 'EQUIFAX', sealed } as const;
  expect(openCredentials(ring, row).value).toMatchObject({ securityCode: 'sesame-open' });
  const copied = { ...row, retailerId: randomUUID() };
  expect(() => openCredentials(ring, copied)).toThrow(SealError);
  expect(() => openCredentials(ring, { ...row, source: 'TRANSUNION' })).toThrow(SealError);
});

test('a start with a new current key wraps every record with that key; one without the old key fails', async () => {
  const { service } = fixture;
  const applicant = await addApplicant(service);
  await request(service, applicant);
  await readEnded(service, applicant);
  const next = `k2:${randomBytes(32).toString('base64')}`;
  await service.restart(`${next},${KEYS}`);
  for (const table of ['bureau_credentials', 'applicant_keys', 'audit_heads']) {
    const keyIds = async () => {
      const { rows } = await service.sql.query(`SELECT sealed, sealed_with FROM ${table}`);
      return new Set(rows.flatMap((row) => [row.sealed_with, readKeyId(row.sealed)]));
    };
    await expect.poll(keyIds).toEqual(new Set(['k2']));
  }
  await service.restart(next);
  expect((await read(service, applicant)).file).toMatchObject({ id: 'U-4711' });

  const keys = `k9:${randomBytes(32).toString('base64')}`;
  await expect(service.restart(keys)).rejects.toThrow(UnknownKeyError);
});

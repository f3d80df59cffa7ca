import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import { readKeyId, SealError } from '@creditlane/crypto/envelope';
import { KeyRing } from '@creditlane/crypto/key-ring';
import { readStoredAnswers } from '@creditlane/idempotency/test-stored-answers';
import { dumpTables } from '@creditlane/postgres/test-table-dump';
import { CommentAsCreditorRequestSchema } from '@creditlane/proto/conversations/v1/conversations_service';
import { expect, test } from 'vitest';
import { openComment } from './sealed-comment.ts';
import {
  asIntegration,
  commentAsCreditor,
  commentAsRetailer,
  KEYS,
  readAs,
  useSubmission,
} from './test-conversations.ts';

const fixture = useSubmission();
const TEXT = 'She lost her job at Northern Lights in May';

test('no text and no name of a comment is readable in the database or the log', async () => {
  const { service, submission } = fixture;
  const options = () => ({ idempotencyKey: randomUUID() });
  await commentAsCreditor(service, submission, TEXT, options());
  await commentAsRetailer(service, submission, TEXT, options());
  await readAs(service, 'CREDITOR', submission);
  const { applicationId, creditorId } = submission;
  const refused = { applicationId, creditorId, userName: 'Ines\n', comment: TEXT };
  const call = service.client.commentAsCreditor(refused, asIntegration({ creditorId }));
  await expect(call).rejects.toThrow();

  const text = (await dumpTables(service.sql)) + service.log.join('\n');
  // The search finds data that is stored in the clear.
  expect(text).toContain(applicationId);
  for (const secret of [TEXT, 'Northern Lights', 'Okafor', 'Singh']) {
    expect(text).not.toContain(secret);
  }
});

test('the digest of a stored request differs from the SHA-256 of the request', async () => {
  const { applicationId, creditorId } = fixture.submission;
  const subject = randomUUID();
  const options = { subject, idempotencyKey: 'key' };
  await commentAsCreditor(fixture.service, fixture.submission, 'no', options);
  const [stored, ...others] = await readStoredAnswers(fixture.service.sql, subject);
  const message = { applicationId, creditorId, userName: 'Ines Okafor', comment: 'no' };
  const bytes = toBinary(
    CommentAsCreditorRequestSchema,
    create(CommentAsCreditorRequestSchema, message),
  );
  expect(others).toEqual([]);
  expect(stored?.request_digest).not.toEqual(createHash('sha256').update(bytes).digest());
});

test('a comment copied to another row or tenant cannot be opened', async () => {
  const { id } = await commentAsCreditor(fixture.service, fixture.submission, TEXT);
  const { retailerId } = fixture.submission;
  const select = 'SELECT sealed FROM comments WHERE id = $1';
  const { rows } = await fixture.service.sql.query(select, [id]);
  const ring = KeyRing.parse(KEYS);
  expect(openComment(ring, rows[0].sealed, id, retailerId).comment).toBe(TEXT);
  expect(() => openComment(ring, rows[0].sealed, randomUUID(), retailerId)).toThrow(SealError);
  expect(() => openComment(ring, rows[0].sealed, id, randomUUID())).toThrow(SealError);
});

test('a start with a new current key wraps every comment with that key; one without the old key fails', async () => {
  const { service, submission } = fixture;
  await commentAsCreditor(service, submission, TEXT);
  const next = `k2:${randomBytes(32).toString('base64')}`;
  await service.restart(`${next},${KEYS}`);
  const keyIds = async () => {
    const { rows } = await service.sql.query('SELECT sealed, sealed_with FROM comments');
    return new Set(rows.flatMap((row) => [row.sealed_with, readKeyId(row.sealed)]));
  };
  await expect.poll(keyIds).toEqual(new Set(['k2']));
  await service.restart(next);
  const { comments } = await readAs(service, 'RETAILER', submission);
  expect(comments.map(({ comment }) => comment)).toEqual([TEXT]);

  const keys = `k9:${randomBytes(32).toString('base64')}`;
  await expect(service.restart(keys)).rejects.toThrow(SealError);
});

import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import { readKeyId, SealError, UnknownKeyError } from '@creditlane/crypto/envelope';
import { KeyRing, parseKeyRing } from '@creditlane/crypto/key-ring';
import { rewrapTables } from '@creditlane/crypto/rotation';
import { readStoredAnswers } from '@creditlane/idempotency/test-stored-answers';
import { dumpTables } from '@creditlane/postgres/test-table-dump';
import { CommentAsCreditorRequestSchema } from '@creditlane/proto/conversations/v1/conversations_service';
import { renewedFile } from '@creditlane/runtime/renewed-file';
import { expect, onTestFinished, test } from 'vitest';
import { openComment } from './sealed-comment.ts';
import { sealedTables } from './store/sealed-tables.ts';
import {
  asIntegration,
  commentAsCreditor,
  commentAsRetailer,
  KEYS,
  readAs,
  submitNew,
  type TestSubmission,
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

/** A replica whose key ring follows a file of its own, which it reads at every use. */
async function startReplica() {
  const { service } = fixture;
  const dir = mkdtempSync(join(tmpdir(), 'creditlane-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const path = join(dir, 'KEY_RING');
  const give = (text: string) => {
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
  };
  give(KEYS);
  const first = { text: KEYS, value: parseKeyRing(KEYS) };
  const keyRing = new KeyRing(renewedFile(path, parseKeyRing, first, 0));
  const replica = await service.startWithKeyRing(keyRing);
  onTestFinished(async () => {
    await replica.stop();
    // The other tests have no key of this one.
    await service.sql.query('DELETE FROM comments');
  });
  return { give, keyRing, service: { ...service, client: replica.client } };
}

test('a new key ring that reaches two replicas one after the other, in the documented steps: no request fails', async () => {
  const replicas = [await startReplica(), await startReplica()] as const;
  const [one, other] = replicas;
  const next = `k3:${randomBytes(32).toString('base64')}`;
  const comments = new Map<TestSubmission, number>();
  /** Each replica reads what the other one has written. */
  const commentAndRead = async (submission: TestSubmission, round: number) => {
    const [writer, reader] = round % 2 ? replicas : [other, one];
    await commentAsCreditor(writer.service, submission, `comment ${round}`);
    comments.set(submission, round + 1);
    const { comments: read } = await readAs(reader.service, 'CREDITOR', submission);
    expect(read).toHaveLength(round + 1);
  };
  const steps = [`${KEYS},${next}`, `${next},${KEYS}`].flatMap((text) =>
    replicas.map(
      ({ give }) =>
        () =>
          give(text),
    ),
  );
  const submissions = [1, 2, 3].map(() => submitNew(fixture.service));
  for (const [step, take] of steps.entries()) {
    const load = submissions.map(async (submission) => {
      for (let round = 0; round < 4; round += 1) await commentAndRead(submission, step * 4 + round);
    });
    take();
    await Promise.all(load);
  }
  const tables = sealedTables(fixture.service.sql);
  expect(await rewrapTables(one.keyRing, tables, () => {})).toBe(true);
  for (const { give } of replicas) give(next);
  for (const [submission, count] of comments) {
    const { comments: read } = await readAs(other.service, 'CREDITOR', submission);
    expect(read).toHaveLength(count);
  }
});

test('a row under a key that only another replica has yet: the call may be repeated, and succeeds with the new file', async () => {
  const [ahead, behind] = [await startReplica(), await startReplica()];
  const ring = `k4:${randomBytes(32).toString('base64')},${KEYS}`;
  ahead.give(ring);
  await commentAsCreditor(ahead.service, fixture.submission, TEXT);
  const read = () => readAs(behind.service, 'CREDITOR', fixture.submission);
  await expect(read()).rejects.toMatchObject({ kind: 'unavailable', retryAfterS: 5 });
  behind.give(ring);
  expect((await read()).comments.map(({ comment }) => comment)).toEqual([TEXT]);
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
  await expect(service.restart(keys)).rejects.toThrow(UnknownKeyError);
});

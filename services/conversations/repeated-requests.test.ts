import { randomUUID } from 'node:crypto';
import { purgeIdempotency } from '@creditlane/idempotency/stored-answers';
import { ageStoredAnswers } from '@creditlane/idempotency/test-stored-answers';
import { runPurge } from '@creditlane/postgres/retention';
import { untilWaiting } from '@creditlane/postgres/test-awaited-locks';
import { ApplicationStatus } from '@creditlane/proto/applications/v1/application';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  type ConversationsFixture,
  commentAsCreditor,
  commentAsRetailer,
  inShort,
  readAs,
  useSubmission,
} from './test-conversations.ts';

const fixture = useSubmission();
let subject: string;
beforeEach(() => {
  subject = randomUUID();
});

/** Adds a comment with an idempotency key; returns its id, and whether the answer was a stored one. */
async function comment(
  idempotencyKey: string,
  text = 'x',
  caller = subject,
  { service, submission } = fixture,
) {
  let replayed = false;
  const onReplayed = () => {
    replayed = true;
  };
  const options = { subject: caller, idempotencyKey, onReplayed };
  const { id } = await commentAsCreditor(service, submission, text, options);
  return { id, replayed };
}

async function stored({ service, submission } = fixture): Promise<string[]> {
  const { comments } = await readAs(service, 'CREDITOR', submission);
  return comments.map(inShort).reverse();
}

describe('a repeated request', () => {
  test("of a creditor adds nothing and gets the first comment's id", async () => {
    const first = await comment('key');
    expect(await comment('key')).toEqual({ id: first.id, replayed: true });
    expect((await comment('another key')).replayed).toBe(false);
    expect(await stored()).toHaveLength(2);
  });

  test('for a retailer adds nothing, also after the application was archived', async () => {
    const options = { subject, idempotencyKey: 'key' };
    const { service, submission } = fixture;
    await commentAsRetailer(service, submission, 'x', options);
    const application = service.applications.applications.get(submission.applicationId);
    if (application) application.status = ApplicationStatus.ARCHIVED;
    await commentAsRetailer(service, submission, 'x', options);
    expect(await stored()).toEqual(['RETAILER x: DELIVERED']);
  });

  test('with another comment is refused', async () => {
    await comment('key');
    const refusal = { kind: 'invalid', code: 'idempotency_key_reused' };
    await expect(comment('key', 'another')).rejects.toMatchObject(refusal);
    expect(await stored()).toHaveLength(1);
  });

  test('of another integration or operation is a request of its own', async () => {
    await comment('key');
    expect((await comment('key', 'x', randomUUID())).replayed).toBe(false);
    const options = { subject, idempotencyKey: 'key' };
    await commentAsRetailer(fixture.service, fixture.submission, 'x', options);
    expect(await stored()).toHaveLength(3);
  });

  test('after a refused one is not a repetition', async () => {
    const { service, submission } = fixture;
    const options = { subject, idempotencyKey: 'key' };
    const stranger = { ...submission, userId: randomUUID() };
    await expect(commentAsRetailer(service, stranger, 'x', options)).rejects.toThrow();
    await commentAsRetailer(service, submission, 'x', options);
    expect(await stored()).toHaveLength(1);
  });

  test('after a day adds a second comment, and the stored answer is purged', async () => {
    const { sql } = fixture.service;
    await comment('key');
    await ageStoredAnswers(sql, 25, subject);
    expect((await comment('key')).replayed).toBe(false);
    await ageStoredAnswers(sql, 25, subject);
    await runPurge(sql, purgeIdempotency);
    const { rows } = await sql.query('SELECT FROM idempotency WHERE caller_id = $1', [subject]);
    expect(rows).toEqual([]);
  });
});

test('twenty duplicate requests at once add one comment and get one answer', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => comment('key')));
  expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
  expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
  expect(await stored()).toHaveLength(1);
});

/** Runs `work` while another transaction holds the lock of the conversation. */
async function whileLocked(
  { service, submission }: ConversationsFixture,
  work: () => Promise<void>,
): Promise<void> {
  const holder = await service.sql.connect();
  try {
    await holder.query('BEGIN');
    const lock = 'SELECT FROM conversations WHERE application_id = $1 FOR UPDATE';
    await holder.query(lock, [submission.applicationId]);
    await work();
  } finally {
    await holder.query('ROLLBACK');
    holder.release();
  }
}

test('a request that is refused while its duplicate waits is in progress, and repeated gets the answer', async () => {
  const { service, submission } = fixture;
  await comment('before');
  let first: ReturnType<typeof comment> | undefined;
  await whileLocked(fixture, async () => {
    first = comment('key');
    await untilWaiting(service.sql, 1);
    const application = service.applications.applications.get(submission.applicationId);
    if (application) application.status = ApplicationStatus.ARCHIVED;
    const inProgress = { kind: 'conflict', code: 'idempotency_in_progress' };
    await expect(comment('key')).rejects.toMatchObject(inProgress);
  });
  const id = (await first)?.id;
  expect(await comment('key')).toEqual({ id, replayed: true });
});

describe('while its conversation is held for longer than the lock timeout', () => {
  const held = useSubmission({ LOCK_TIMEOUT: '1s' });
  const commentOnHeld = (key: string) => comment(key, 'x', subject, held);

  test('a request is unavailable and adds nothing, and can be repeated', async () => {
    await commentOnHeld('before');
    await whileLocked(held, () =>
      expect(commentOnHeld('key')).rejects.toMatchObject({ kind: 'unavailable' }),
    );
    expect(await commentOnHeld('key')).toMatchObject({ replayed: false });
    expect(await stored(held)).toHaveLength(2);
  });
});

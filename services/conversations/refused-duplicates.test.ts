// Apart from the other repeated requests, whose short lock timeout could end the request that waits here.
import { randomUUID } from 'node:crypto';
import { ApplicationStatus } from '@creditlane/proto/applications/v1/application';
import { expect, test } from 'vitest';
import { commentAsCreditor, useSubmission } from './test-conversations.ts';

const fixture = useSubmission();
const subject = randomUUID();

/** Adds a comment with an idempotency key; returns its id, and whether the answer was a stored one. */
async function comment(idempotencyKey: string) {
  let replayed = false;
  const onReplayed = () => {
    replayed = true;
  };
  const options = { subject, idempotencyKey, onReplayed };
  const { id } = await commentAsCreditor(fixture.service, fixture.submission, 'x', options);
  return { id, replayed };
}

test('a request that is refused while its duplicate waits is in progress, and repeated gets the answer', async () => {
  const { service, submission } = fixture;
  await comment('before');
  const holder = await service.sql.connect();
  let first: ReturnType<typeof comment> | undefined;
  try {
    await holder.query('BEGIN');
    const lock = 'SELECT FROM conversations WHERE application_id = $1 FOR UPDATE';
    await holder.query(lock, [submission.applicationId]);
    first = comment('key');
    await expect.poll(countWaiting).toBe(1);
    const application = service.applications.applications.get(submission.applicationId);
    if (application) application.status = ApplicationStatus.ARCHIVED;
    const inProgress = { kind: 'conflict', code: 'idempotency_in_progress' };
    await expect(comment('key')).rejects.toMatchObject(inProgress);
  } finally {
    await holder.query('ROLLBACK');
    holder.release();
  }
  const { id } = await first;
  expect(await comment('key')).toEqual({ id, replayed: true });
});

async function countWaiting(): Promise<number> {
  const { rows } = await fixture.service.sql.query(
    "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
  );
  return rows.length;
}

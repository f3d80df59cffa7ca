import { randomUUID } from 'node:crypto';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { ApplicationStatus } from '@creditlane/proto/applications/v1/application';
import { Side } from '@creditlane/proto/conversations/v1/comment';
import { unavailable } from '@creditlane/rpc/fault';
import { serviceIdentity } from '@creditlane/rpc/identity';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { submittedTo } from './test-applications.ts';
import {
  asIntegration,
  commentAsCreditor,
  commentAsRetailer,
  inShort,
  readAs,
  useSubmission,
} from './test-conversations.ts';

const fixture = useSubmission();

/** The texts of the submission's comments, oldest first. */
async function stored(submission = fixture.submission): Promise<string[]> {
  const { comments } = await readAs(fixture.service, 'CREDITOR', submission, { discarded: true });
  return comments.map(({ comment }) => comment).reverse();
}

function setStatus(status: ApplicationStatus): void {
  const { applicationId } = fixture.submission;
  const application = fixture.service.applications.applications.get(applicationId);
  if (application !== undefined) application.status = status;
}

describe("a creditor's comment", () => {
  test('is stored as given, with the name of its author and the integration', async () => {
    const text = '  Two\nlines ☎ \u0001 ';
    const subject = randomUUID();
    const options = { subject };
    const { id, createdAt } = await commentAsCreditor(
      fixture.service,
      fixture.submission,
      text,
      options,
    );
    const { comments } = await readAs(fixture.service, 'RETAILER', fixture.submission);
    expect(comments).toMatchObject([
      {
        id,
        side: Side.CREDITOR,
        author: { userName: 'Ines Okafor', userId: '' },
        comment: text,
        createdAt,
        integrationId: subject,
      },
    ]);
    expect(Math.abs(Date.now() - timestampDate(createdAt as never).getTime())).toBeLessThan(60_000);
  });

  test('is refused with ids in no scope and for submissions of other creditors', async () => {
    const { applicationId, creditorId, retailerId } = fixture.submission;
    const other = randomUUID();
    const request = { applicationId, creditorId, userName: 'Ines', comment: 'x' };
    const attempts = [
      { request, scope: {} },
      { request, scope: { retailerId } },
      { request, scope: { creditorId: other } },
      { request: { ...request, creditorId: other }, scope: { creditorId: other } },
      { request: { ...request, applicationId: other }, scope: { creditorId } },
    ];
    for (const { request, scope } of attempts) {
      const call = fixture.service.client.commentAsCreditor(request, asIntegration(scope));
      await expect(call).rejects.toMatchObject({
        kind: 'not_found',
        code: 'submission_not_found',
        message:
          'No application within your grants has this id and was submitted to this creditor. Writing needs a grant on the creditor, and one for which your integration is disabled counts as not granted.',
      });
    }
    expect(await stored()).toEqual([]);
  });

  test('on an archived application is refused, and on one archived before its submission not found', async () => {
    setStatus(ApplicationStatus.ARCHIVED);
    const call = commentAsCreditor(fixture.service, fixture.submission, 'x');
    await expect(call).rejects.toMatchObject({ kind: 'invalid', code: 'application_archived' });
    const application = submittedTo(fixture.submission.retailerId, []);
    application.status = ApplicationStatus.ARCHIVED;
    fixture.service.applications.applications.set(fixture.submission.applicationId, application);
    const missing = commentAsCreditor(fixture.service, fixture.submission, 'x');
    await expect(missing).rejects.toMatchObject({ code: 'submission_not_found' });
  });

  test.each([
    { name: 'a blank name', fields: { userName: ' ' }, pointer: '/userName' },
    { name: 'a name of two lines', fields: { userName: 'Ines\nOkafor' }, pointer: '/userName' },
    { name: 'a name of 201 characters', fields: { userName: 'x'.repeat(201) } },
    { name: 'a blank comment', fields: { comment: '\n\u00a0\t' }, pointer: '/comment' },
    { name: 'an invisible comment', fields: { comment: '\u200b' }, pointer: '/comment' },
    { name: 'a comment of 10,001 characters', fields: { comment: 'x'.repeat(10_001) } },
  ])('with $name is refused', async ({ fields, pointer }) => {
    const { applicationId, creditorId } = fixture.submission;
    const request = { applicationId, creditorId, userName: 'Ines', comment: 'x', ...fields };
    const call = fixture.service.client.commentAsCreditor(request, asIntegration({ creditorId }));
    await expect(call).rejects.toMatchObject({
      kind: 'invalid',
      ...(pointer && { code: 'invalid_comment', fields: [{ pointer }] }),
    });
    expect(await stored()).toEqual([]);
  });

  test('of 10,000 characters is stored whole', async () => {
    const text = '😀'.repeat(10_000);
    await commentAsCreditor(fixture.service, fixture.submission, text);
    expect(await stored()).toEqual([text]);
  });
});

describe("a comment of a retailer's user", () => {
  test('is stored with the user as author and the integration as actor', async () => {
    const subject = randomUUID();
    await commentAsRetailer(fixture.service, fixture.submission, 'On its way.', { subject });
    const { comments } = await readAs(fixture.service, 'CREDITOR', fixture.submission);
    const { userId } = fixture.submission;
    expect(comments).toMatchObject([
      {
        side: Side.RETAILER,
        author: { userName: 'Noor Singh', userId },
        comment: 'On its way.',
        integrationId: subject,
      },
    ]);
  });

  test('is accepted with ids in upper case', async () => {
    const { applicationId, creditorId, retailerId, userId } = fixture.submission;
    const request = {
      applicationId: applicationId.toUpperCase(),
      creditorId: creditorId.toUpperCase(),
      userId: userId.toUpperCase(),
      comment: 'x',
    };
    const scope = { retailerId: retailerId.toUpperCase() };
    await fixture.service.client.commentAsRetailerUser(request, asIntegration(scope));
    expect(await stored()).toEqual(['x']);
  });

  test('of a user with one name has that name alone as author', async () => {
    const { retailerId, userId } = fixture.submission;
    fixture.service.applications.users.set(`${retailerId} ${userId}`, ['', 'Suharto']);
    await commentAsRetailer(fixture.service, fixture.submission, 'x');
    const { comments } = await readAs(fixture.service, 'CREDITOR', fixture.submission);
    expect(comments).toMatchObject([{ author: { userName: 'Suharto', userId } }]);
  });

  test('without the permission is refused, also for another service', async () => {
    const options = { permissions: ['MANAGE_DIRECTORY'] };
    const call = commentAsRetailer(fixture.service, fixture.submission, 'x', options);
    await expect(call).rejects.toMatchObject({ kind: 'forbidden', code: 'permission_missing' });
    const { applicationId, creditorId, userId } = fixture.submission;
    const byService = fixture.service.asDecisions.commentAsRetailerUser(
      { applicationId, creditorId, userId, comment: 'x' },
      { identity: serviceIdentity('decisions') },
    );
    await expect(byService).rejects.toMatchObject({ kind: 'forbidden' });
    expect(await stored()).toEqual([]);
  });

  test('of a user who is not eligible is refused, naming userId', async () => {
    const stranger = { ...fixture.submission, userId: randomUUID() };
    const call = commentAsRetailer(fixture.service, stranger, 'x');
    await expect(call).rejects.toMatchObject({
      kind: 'invalid',
      code: 'ineligible_user',
      fields: [{ pointer: '/userId' }],
    });
    expect(await stored()).toEqual([]);
  });

  test.each([ApplicationStatus.STARTED, ApplicationStatus.DRAFT, ApplicationStatus.SAVED])(
    'on an application that was never submitted is refused alike for every creditor (%i)',
    async (status) => {
      setStatus(status);
      for (const creditorId of [fixture.submission.creditorId, randomUUID()]) {
        const submission = { ...fixture.submission, creditorId };
        await expect(commentAsRetailer(fixture.service, submission, 'x')).rejects.toMatchObject({
          kind: 'invalid',
          code: 'application_not_submitted',
        });
      }
    },
  );

  test('on an archived application is refused', async () => {
    setStatus(ApplicationStatus.ARCHIVED);
    const call = commentAsRetailer(fixture.service, fixture.submission, 'x');
    await expect(call).rejects.toMatchObject({ kind: 'invalid', code: 'application_archived' });
  });

  test('to a creditor without the application has no conversation', async () => {
    const submission = { ...fixture.submission, creditorId: randomUUID() };
    const call = commentAsRetailer(fixture.service, submission, 'x');
    await expect(call).rejects.toMatchObject({ kind: 'not_found', code: 'conversation_not_found' });
  });

  test("on an application that is missing or another retailer's is not found", async () => {
    const foreign = { ...fixture.submission, retailerId: randomUUID() };
    const missing = { ...fixture.submission, applicationId: randomUUID() };
    for (const submission of [foreign, missing]) {
      await expect(commentAsRetailer(fixture.service, submission, 'x')).rejects.toMatchObject({
        kind: 'not_found',
        code: 'application_not_found',
        message: 'There is no such application.',
      });
    }
  });

  test('that is blank is refused before the applications service is called', async () => {
    const before = fixture.service.applications.callCount;
    const call = commentAsRetailer(fixture.service, fixture.submission, ' \r\n');
    await expect(call).rejects.toMatchObject({ code: 'invalid_comment' });
    expect(fixture.service.applications.callCount).toBe(before);
  });

  test('is refused as unavailable while the applications service is', async () => {
    fixture.service.applications.failure = unavailable('out of reach');
    const call = commentAsRetailer(fixture.service, fixture.submission, 'x');
    await expect(call).rejects.toMatchObject({ kind: 'unavailable' });
    fixture.service.applications.failure = undefined;
    expect(await stored()).toEqual([]);
  });
});

test('a replica that cannot reach the applications service is ready, reads conversations and takes no comment', async () => {
  const { service, submission } = fixture;
  await commentAsCreditor(service, submission, 'x');
  const replica = await service.startWithoutApplications();
  try {
    const checks = { applications: 'out of reach' };
    expect(replica.health.ready()).toMatchObject({ ready: true, degraded: true, checks });
    const { comments } = await readAs({ ...service, ...replica }, 'CREDITOR', submission);
    expect(comments).toHaveLength(1);
    const refused = commentAsCreditor({ ...service, ...replica }, submission, 'y');
    await expect(refused).rejects.toMatchObject({ kind: 'unavailable' });
  } finally {
    await replica.stop();
  }
});

describe('a conversation', () => {
  test('of a submission without comments is empty for both sides', async () => {
    for (const side of ['CREDITOR', 'RETAILER'] as const) {
      const page = await readAs(fixture.service, side, fixture.submission);
      expect(page).toMatchObject({ comments: [], nextCursor: '' });
    }
  });

  test("that is missing or another tenant's is not found, with comments and without", async () => {
    const { service, submission } = fixture;
    const commented = fixture.submission;
    await commentAsCreditor(service, commented, 'x');
    const [other, none] = [randomUUID(), { ...submission, applicationId: randomUUID() }];
    const attempts = [
      () => readAs(service, 'RETAILER', { ...commented, retailerId: other }),
      () => readAs(service, 'CREDITOR', { ...commented, creditorId: other }),
      () => readAs(service, 'CREDITOR', none),
      () => readAs(service, 'RETAILER', none),
      () =>
        service.client.getConversation(
          { applicationId: commented.applicationId, creditorId: commented.creditorId, limit: 1 },
          asIntegration({}),
        ),
    ];
    for (const attempt of attempts) {
      await expect(attempt()).rejects.toMatchObject({
        kind: 'not_found',
        code: 'conversation_not_found',
        message: 'There is no such conversation.',
      });
    }
  });

  test('of an archived application stays readable', async () => {
    await commentAsCreditor(fixture.service, fixture.submission, 'x');
    setStatus(ApplicationStatus.ARCHIVED);
    expect(await stored()).toEqual(['x']);
  });

  test('lists comments newest first, page by page, also while comments are added', async () => {
    const { service, submission } = fixture;
    for (const text of ['one', 'two', 'three']) await commentAsCreditor(service, submission, text);
    await commentAsRetailer(service, submission, 'four');
    const first = await readAs(service, 'CREDITOR', submission, { limit: 2 });
    expect(first.comments.map(inShort)).toEqual([
      'RETAILER four: DELIVERED',
      'CREDITOR three: QUEUED',
    ]);
    await commentAsCreditor(service, submission, 'five');
    const cursor = first.nextCursor;
    const second = await readAs(service, 'CREDITOR', submission, { limit: 2, cursor });
    expect(second.comments.map(({ comment }) => comment)).toEqual(['two', 'one']);
    expect(second.nextCursor).toBe('');
  });

  test('of long comments has shorter pages, on which each comment is once, while comments are added', async () => {
    const { service, submission } = fixture;
    const texts = [...Array(10).fill('😀'), '\u0001', 'x', '\u0001', '😀'];
    for (const text of texts) {
      await commentAsCreditor(service, submission, `x${text.repeat(9_999)}`);
    }
    const pages: string[][] = [];
    let cursor = '';
    do {
      const page = await readAs(service, 'RETAILER', submission, { limit: 100, cursor });
      pages.push(page.comments.map(({ comment }) => comment));
      cursor = page.nextCursor;
      await commentAsCreditor(service, submission, 'later');
    } while (cursor !== '');
    expect(pages.flat()).toEqual(texts.map((text) => `x${text.repeat(9_999)}`).reverse());
    // A page has room for 256 KiB: in JSON these comments have 10, 40 and 60 KB.
    expect(pages.map(({ length }) => length)).toEqual([6, 6, 2]);
  });

  test('is walked with any limits, each comment once and in order, while comments are added', async () => {
    const { service, submission } = fixture;
    const add = (text: string) => commentAsCreditor(service, submission, text);
    const text = fc
      .tuple(fc.constantFrom('x', '\u0001', '😀'), fc.integer({ min: 1, max: 9_999 }))
      .map(([character, length]) => `x${character.repeat(length)}`);
    const expected = fc.sample(text, { seed: 20_260_331, numRuns: 30 });
    for (const it of expected) await add(it);
    const limits = fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 5 });
    const added: string[] = [];
    await fc.assert(
      fc.asyncProperty(limits, async (given) => {
        const walked: string[] = [];
        const addedMeanwhile: string[] = [];
        let cursor = '';
        for (let step = 0; step === 0 || cursor !== ''; step += 1) {
          const limit = given[step % given.length] ?? 1;
          const page = await readAs(service, 'RETAILER', submission, { limit, cursor });
          expect(page.comments.length).toBeGreaterThan(0);
          walked.push(...page.comments.map(({ comment }) => comment));
          cursor = page.nextCursor;
          if (step >= 3) continue;
          addedMeanwhile.push(`later ${added.length} ${step}`);
          await add(addedMeanwhile.at(-1) ?? '');
        }
        const [later, first] = [walked.slice(0, -expected.length), walked.slice(-expected.length)];
        expect(first).toEqual(expected.toReversed());
        expect(new Set(later)).toEqual(new Set(added));
        expect(later).toHaveLength(new Set(later).size);
        added.push(...addedMeanwhile);
      }),
      { seed: 20_260_331, numRuns: 5 },
    );
  });

  test('delivers the comments of the page alone, when the page ends early', async () => {
    const { service, submission } = fixture;
    for (let count = 0; count < 5; count += 1) {
      await commentAsCreditor(service, submission, `x${'\u0001'.repeat(9_999)}`);
    }
    const page = await readAs(service, 'RETAILER', submission, { limit: 100 });
    expect(page.comments).toHaveLength(4);
    const { rows } = await service.sql.query(
      'SELECT delivered_at IS NOT NULL AS delivered FROM comments WHERE application_id = $1 ORDER BY seq',
      [submission.applicationId],
    );
    expect(rows.map(({ delivered }) => delivered)).toEqual([false, true, true, true, true]);
  });

  test('keeps the order of comments that are added at once', async () => {
    const { service, submission } = fixture;
    const texts = Array.from({ length: 12 }, (_, index) => `comment ${index}`);
    await Promise.all(texts.map((text) => commentAsRetailer(service, submission, text)));
    const { rows } = await service.sql.query(
      'SELECT seq FROM comments WHERE application_id = $1 ORDER BY seq',
      [submission.applicationId],
    );
    expect(rows.map(({ seq }) => seq)).toEqual(texts.map((_, index) => index + 1));
    expect((await stored()).toSorted()).toEqual(texts.toSorted());
  });

  test('refuses a cursor that the service did not make', async () => {
    const call = readAs(fixture.service, 'CREDITOR', fixture.submission, { cursor: 'abc' });
    await expect(call).rejects.toMatchObject({ kind: 'invalid', code: 'invalid_cursor' });
  });
});

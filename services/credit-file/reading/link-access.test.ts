import { randomUUID } from 'node:crypto';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { runPurge } from '@creditlane/postgres/retention';
import { beforeEach, describe, expect, test } from 'vitest';
import { purgeLinks } from '../store/document-links.ts';
import type { TestSubject } from '../test-applications.ts';
import { read, useApplicant } from '../test-credit-file.ts';
import { AS_GATEWAY, giveLink, type Link, linkIn } from '../test-document-links.ts';

const ENDED = { kind: 'forbidden', code: 'link_ended' };
const fixture = useApplicant();

let link: Link;
beforeEach(async () => {
  link = await giveLink(fixture);
});

const open = () => fixture.service.client.readDocument(link, AS_GATEWAY);
const readersOf = (checked: Link) => fixture.service.client.checkDocumentLink(checked, AS_GATEWAY);

/** Changes what the applications service has of the applicant. */
function change(changed: Partial<TestSubject>): void {
  const { applicationId, applicantId } = fixture.applicant;
  const { subjects } = fixture.service.applications;
  const key = `${applicationId} ${applicantId}`;
  subjects.set(key, { ...subjects.get(key), ...changed } as TestSubject);
}

/** Another consent of the applicant, in the place of the one that the file was pulled on. */
function consentAgain(recordedAt: Date): void {
  const { applicationId, applicantId } = fixture.applicant;
  const key = `${applicationId} ${applicantId}`;
  const { consent } = fixture.service.applications.subjects.get(key) ?? {};
  const id = randomUUID();
  change({ consent: { ...consent, id, recordedAt: timestampFromDate(recordedAt) } } as TestSubject);
}

describe('a link ends', () => {
  test.each([
    { what: 'its consent', changed: { consent: undefined } },
    { what: 'the archiving of its application', changed: { applicationStatus: 'ARCHIVED' } },
  ])('with $what', async ({ changed }) => {
    await open();
    change(changed);
    await expect(open()).rejects.toMatchObject(ENDED);
  });

  test('with its consent also when another one follows', async () => {
    consentAgain(new Date(Date.now() + 60_000));
    await expect(open()).rejects.toMatchObject(ENDED);
  });

  test('with its consent while the document waits for longer than the link may last without it', async () => {
    const { service, applicant } = fixture;
    const holder = await service.sql.connect();
    await holder.query('BEGIN');
    const held = 'SELECT FROM audit_heads WHERE retailer_id = $1 FOR UPDATE';
    await holder.query(held, [applicant.retailerId]);
    const refused = expect(open()).rejects.toMatchObject(ENDED);
    const waits = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await expect.poll(async () => (await service.sql.query(waits)).rowCount).toBeGreaterThan(0);
    change({ consent: undefined });
    service.now.offsetMs = 5_000;
    await holder.query('ROLLBACK');
    holder.release();
    await refused;
  });
});

test('a link that was made on a later consent than that of the pull opens the file', async () => {
  consentAgain(new Date(Date.now() - 60_000));
  await open();
});

test('the check of a link names the integrations that were given it, both of a link that two got in one second', async () => {
  const { service, applicant } = fixture;
  // The link of the other tests was given in an earlier second.
  service.now.offsetMs = 2_000;
  const retailerContext = randomUUID();
  const [one, two] = [randomUUID(), randomUUID()];
  const readAs = async (reader: object) => (await read(service, applicant, reader)).documentPath;
  const readAll = async () => [
    await readAs({ subject: one }),
    await readAs({ subject: two, retailerContext }),
    await readAs({ subject: one }),
  ];
  // Three reads may begin in one second and end in the next one; then they are made again.
  let paths = await readAll();
  while (new Set(paths).size > 1) paths = await readAll();
  const { applicationId, readers } = await readersOf(linkIn(paths[0] ?? ''));
  expect(applicationId).toBe(applicant.applicationId);
  const given = readers.map(({ integrationId, retailerContext }) => [
    integrationId,
    retailerContext,
  ]);
  expect(given.toSorted()).toEqual(
    [
      [one, ''],
      [two, retailerContext],
    ].toSorted(),
  );
});

test('a link of the version before, of which nobody is known, opens the file', async () => {
  const { service } = fixture;
  await service.sql.query('DELETE FROM document_links WHERE file_id = $1', [link.fileId]);
  expect(await readersOf(link)).toMatchObject({ readers: [] });
  await open();
});

test('links that have expired are purged, and no others', async () => {
  const { sql } = fixture.service;
  const expired = `UPDATE document_links SET expires_at = now() - interval '1 s' WHERE file_id <> $1`;
  await sql.query(expired, [link.fileId]);
  await runPurge(sql, purgeLinks);
  const { rows } = await sql.query('SELECT DISTINCT file_id FROM document_links');
  expect(rows).toEqual([{ file_id: link.fileId }]);
});

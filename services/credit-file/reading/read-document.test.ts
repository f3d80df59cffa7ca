import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { readPdf } from '../document/test-read-pdf.ts';
import { asIntegration, asPlatform, read, useApplicant } from '../test-credit-file.ts';
import { AS_GATEWAY, giveLink, type Link, linkIn } from '../test-document-links.ts';

const fixture = useApplicant();

let link: Link;
beforeEach(async () => {
  link = await giveLink(fixture);
});

async function open(change: Partial<Link> = {}) {
  const { pdf } = await fixture.service.client.readDocument({ ...link, ...change }, AS_GATEWAY);
  return Buffer.from(pdf);
}

const check = (change: Partial<Link> = {}) =>
  fixture.service.client.checkDocumentLink({ ...link, ...change }, AS_GATEWAY);

test('the holder of a link gets the PDF, and the audit log a record', async () => {
  const { text } = await readPdf(await open());
  expect(text).toContain('Amélie Tremblay');
  expect(text).toContain('***-***-286');
  expect(text).not.toContain('046454286');
  const { rows } = await fixture.service.sql.query(
    `SELECT actor_kind, actor, purpose FROM audit_records WHERE action = 'DOCUMENT_READ' AND file_id = $1`,
    [link.fileId],
  );
  expect(rows).toEqual([
    { actor_kind: 'service', actor: 'gateway', purpose: 'CREDIT_APPLICATION' },
  ]);
});

test('the links of a file draw its document once while one of them lives, and none opens it after an erasure', async () => {
  const { service, applicant } = fixture;
  const drawn = async () => {
    const counted = /document_seconds_count\{outcome="rendered"\} (\d+)/.exec(
      await service.metrics.text(),
    );
    return Number(counted?.[1] ?? 0);
  };
  const before = await drawn();
  const first = await open();
  expect(await drawn()).toBe(before + 1);
  service.now.offsetMs = 2_000;
  const other = linkIn((await read(service, applicant)).documentPath);
  for (const opened of [await open(), await open(other)]) expect(opened.equals(first)).toBe(true);
  expect(await drawn()).toBe(before + 1);
  const { applicantId, retailerId } = applicant;
  await service.client.eraseApplicant({ applicantId, retailerId }, asPlatform());
  await expect(open(other)).rejects.toMatchObject({ code: 'credit_file_not_found' });
});

test('a link ends after fifteen minutes, and each read of the file gives a new one', async () => {
  const { service, applicant } = fixture;
  service.now.offsetMs = 14 * 60_000;
  await check();
  await open();
  const { documentPath } = await read(service, applicant);
  service.now.offsetMs = 15 * 60_000 + 1_000;
  const expired = { kind: 'forbidden', code: 'link_expired' };
  await expect(open()).rejects.toMatchObject(expired);
  await expect(check()).rejects.toMatchObject(expired);
  await open(linkIn(documentPath));
});

test.each([
  { what: 'the id of another file', change: () => ({ fileId: randomUUID() }) },
  { what: 'a later end', change: () => ({ expiresAt: link.expiresAt + 1n }) },
  { what: 'an end in the past', change: () => ({ expiresAt: 1n }) },
  { what: 'a cut signature', change: () => ({ signature: link.signature.slice(0, -1) }) },
  { what: 'a longer signature', change: () => ({ signature: `${link.signature}A` }) },
  { what: 'a signature with other signs', change: () => ({ signature: `${link.signature}=` }) },
  { what: 'a signature of something else', change: () => ({ signature: 'A'.repeat(43) }) },
])('a link with $what is not valid', async ({ change }) => {
  const invalid = { kind: 'forbidden', code: 'link_invalid' };
  await expect(open(change())).rejects.toMatchObject(invalid);
  await expect(check(change())).rejects.toMatchObject(invalid);
});

test('a link of a file that is gone finds none, and no caller but the gateway may open one', async () => {
  const { service, applicant } = fixture;
  const call = service.client.readDocument(link, asIntegration(applicant.retailerId));
  await expect(call).rejects.toMatchObject({ kind: 'forbidden', code: 'caller_not_allowed' });
  await service.sql.query('DELETE FROM credit_files WHERE id = $1', [link.fileId]);
  const notFound = { kind: 'not_found', code: 'credit_file_not_found' };
  await expect(open()).rejects.toMatchObject(notFound);
});

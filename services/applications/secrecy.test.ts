import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import { readKeyId, SealError } from '@creditlane/crypto/envelope';
import { KeyRing } from '@creditlane/crypto/key-ring';
import { CreateApplicationRequestSchema } from '@creditlane/proto/applications/v1/applications_service';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openApplicant } from './sealed-applicant.ts';
import {
  anApplicant,
  anApplication,
  aSubmission,
  asIntegration,
  created,
  type Directory,
  furnish,
  KEYS,
  SIN,
  startWorld,
  type World,
} from './test-applications.ts';

let world: World;
let directory: Directory;
beforeAll(async () => {
  world = await startWorld();
  directory = await furnish(world);
});
afterAll(() => world?.close());

/** Every row of every table as text; bytes are shown in hex and, besides, as Latin-1. */
async function dump(): Promise<string> {
  const { rows: tables } = await world.sql.query(
    `SELECT table_name, string_agg(format(
         CASE udt_name WHEN 'bytea' THEN '%1$I::text, encode(%1$I, ''escape'')' ELSE '%I::text' END,
         column_name), ', ') AS columns
     FROM information_schema.columns WHERE table_schema = 'public' GROUP BY table_name`,
  );
  let text = '';
  for (const { table_name, columns } of tables) {
    const { rows } = await world.sql.query({
      text: `SELECT ${columns} FROM ${table_name}`,
      rowMode: 'array',
    });
    text += JSON.stringify(rows);
  }
  return text;
}

/** The forms in which a text may lie about: itself, in hex, in UTF-16, in base64 at each offset. */
function formsOf(text: string): string[] {
  const bytes = Buffer.from(text);
  const base64 = [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    // Without the digits that the neighbours on either side have a part in.
    const end = Math.floor(((offset + bytes.length) * 8) / 6);
    return encoded.slice(Math.ceil((offset * 8) / 6), end);
  });
  return [text, bytes.toString('hex'), Buffer.from(text, 'utf16le').toString('hex'), ...base64];
}

test('nothing of an applicant is in the database, the events or the log in any readable form', async () => {
  const { retailerId, creditorId } = directory;
  const request = { ...anApplication(retailerId), coApplicant: anApplicant() };
  const { application } = await world.service.applications.createApplication(
    request,
    asIntegration(retailerId, randomUUID()),
  );
  if (!application) throw new Error('no application');
  await world.service.applications.submitApplication(
    aSubmission(application, directory, [creditorId]),
    asIntegration(retailerId, randomUUID()),
  );
  const refused = { ...anApplicant(), sin: '046-454-287', dateOfBirth: '1988-02-30' };
  await created(world, retailerId, { primaryApplicant: refused }).catch(() => {});

  const text = (await dump()) + world.log.join('\n') + JSON.stringify(world.service.events, bigint);
  // The search finds what is there.
  for (const open of [application.applicationId, '1HGBH41JXMN109186', 'Harbour Motors']) {
    expect(text).toContain(open);
  }
  const { lastName, email, dateOfBirth } = anApplicant();
  const secrets = [
    SIN,
    SIN.replaceAll('-', ''),
    SIN.replaceAll('-', ' '),
    refused.sin,
    '046454287',
  ];
  for (const secret of [...secrets, lastName, email, dateOfBirth, 'Sherbrooke']) {
    for (const form of formsOf(secret)) expect(text).not.toContain(form);
  }
});

test('the digest of a remembered request is not found by trying every number', async () => {
  const { retailerId } = directory;
  const request = anApplication(retailerId);
  const key = randomUUID();
  await world.service.applications.createApplication(request, asIntegration(retailerId, key));
  const { rows } = await world.sql.query('SELECT request_digest FROM idempotency WHERE key = $1', [
    key,
  ]);
  // Whoever knows all the rest of the request arrives at the right number here.
  const message = create(CreateApplicationRequestSchema, request);
  const guess = createHash('sha256')
    .update(toBinary(CreateApplicationRequestSchema, message))
    .digest();
  expect(rows).toHaveLength(1);
  expect(rows[0].request_digest).not.toEqual(guess);
});

test('an applicant put into another row or tenant does not open', async () => {
  const { retailerId } = directory;
  const { primaryApplicant } = await created(world, retailerId);
  const id = primaryApplicant?.applicantId ?? '';
  const { rows } = await world.sql.query('SELECT sealed FROM applicants WHERE id = $1', [id]);
  const ring = KeyRing.parse(KEYS);
  expect(openApplicant(ring, rows[0].sealed, id, retailerId).sin).toBe('046454286');
  expect(() => openApplicant(ring, rows[0].sealed, randomUUID(), retailerId)).toThrow(SealError);
  expect(() => openApplicant(ring, rows[0].sealed, id, randomUUID())).toThrow(SealError);
});

test('after a start with a new key in front, no row names the old key and every applicant opens', async () => {
  const { retailerId } = directory;
  const { applicationId } = await created(world, retailerId);
  const next = `k2:${randomBytes(32).toString('base64')}`;
  await world.restart(`${next},${KEYS}`);
  const { rows } = await world.sql.query('SELECT sealed, sealed_with FROM applicants');
  for (const row of rows) {
    expect(row.sealed_with).toBe('k2');
    expect(readKeyId(row.sealed)).toBe('k2');
  }
  await world.restart(next);
  const { application } = await world.service.applications.getApplication(
    { applicationId },
    asIntegration(retailerId),
  );
  expect(application?.primaryApplicant?.lastName).toBe('Tremblay');
});

test('a start without the key of a stored applicant fails', async () => {
  await created(world, directory.retailerId);
  const keys = `k9:${randomBytes(32).toString('base64')}`;
  await expect(world.restart(keys)).rejects.toThrow(SealError);
});

function bigint(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}

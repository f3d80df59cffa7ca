import { randomUUID } from 'node:crypto';
import type { RowScope } from '@creditlane/postgres/row-security/request-pool';
import { findBreaches, listUnsecuredTables } from '@creditlane/service/test-row-security';
import { expect, test } from 'vitest';
import { type Erasure, insertErasure } from './store/applicant-erasures.ts';
import { findLatestPull, findPulls } from './store/pulls.ts';
import { addApplicant, readEnded, request, useApplicant } from './test-credit-file.ts';
import { AS_GATEWAY, linkIn } from './test-document-links.ts';

const fixture = useApplicant();

/** The scope of a new retailer with a pull and a file. */
async function addRetailer(): Promise<RowScope> {
  const callerId = randomUUID();
  const applicant = await addApplicant(fixture.service);
  await request(fixture.service, applicant, {
    subject: callerId,
    idempotencyKey: 'key',
    force: true,
  });
  await request(fixture.service, applicant, { requestId: 'joins the running pull' });
  const { documentPath } = await readEnded(fixture.service, applicant);
  await fixture.service.client.readDocument(linkIn(documentPath), AS_GATEWAY);
  const { retailerId } = applicant;
  const erasure = { applicantId: randomUUID(), retailerId, actor: { kind: 'operator', id: 'x' } };
  await insertErasure(fixture.service.sql, erasure as Erasure, new Date());
  return { retailers: [applicant.retailerId], callers: [callerId] };
}

test('every table is under row security, or out of the reach of requests', async () => {
  expect(await listUnsecuredTables(fixture.service.database)).toEqual({
    // TypeORM's list of the migrations that were run.
    migrations: [],
  });
});

test('without their filter, statements of retailers reach no row of another', async () => {
  const tenants = { own: await addRetailer(), foreign: await addRetailer() };
  expect(await findBreaches(fixture.service.database, tenants)).toEqual([]);
});

test('a query whose own filter admits every retailer finds only the pulls of the scope', async () => {
  const { service, applicant } = fixture;
  const { retailerId } = applicant;
  await request(service, applicant);
  await readEnded(service, applicant);
  const countIn = async (scope: RowScope) => {
    const db = service.database.requests.within(scope);
    const latest = await findLatestPull(db, applicant, retailerId);
    const listed = await findPulls(db, applicant, retailerId, { before: 100, limit: 10 });
    return [latest === undefined ? 0 : 1, listed.length];
  };
  expect(await countIn({ retailers: [retailerId] })).toEqual([1, 1]);
  expect(await countIn({ retailers: [randomUUID()] })).toEqual([0, 0]);
  expect(await countIn({})).toEqual([0, 0]);
});

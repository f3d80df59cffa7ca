// What is kept of the openings of a link, and what a caller leaves behind who does not wait for the answer.

import type { Queryable } from '@creditlane/postgres/statement';
import { inTransaction } from '@creditlane/postgres/transaction';
import { Turns } from '@creditlane/runtime/concurrency/turns';
import { silentLog } from '@creditlane/runtime/test-log';
import { beforeEach, describe, expect, test } from 'vitest';
import { verifyChain } from '../audit/verify-chain.ts';
import { RING } from '../custody/test-erasures.ts';
import { read, readEnded, request, useApplicant } from '../test-credit-file.ts';
import { AS_GATEWAY, type Link, linkIn } from '../test-document-links.ts';
import { recordOpenings } from './record-openings.ts';

const MINUTE_MS = 60_000;
const CANCELLED = { kind: 'cancelled' };
const fixture = useApplicant();

let link: Link;
beforeEach(async () => {
  const { service, applicant } = fixture;
  await request(service, applicant);
  await readEnded(service, applicant);
  // A minute begins, so that a test is in one.
  service.now.offsetMs = MINUTE_MS - (Date.now() % MINUTE_MS);
  link = await newLink();
});

/** The link of another read: one second later than that of the read before, and so another one. */
async function newLink(): Promise<Link> {
  const { service, applicant } = fixture;
  service.now.offsetMs += 1_000;
  return linkIn((await read(service, applicant)).documentPath);
}

const open = (opened: Link = link, signal?: AbortSignal) =>
  fixture.service.client.readDocument(opened, { ...AS_GATEWAY, signal });

const rowTurns = new Turns({
  maxRunning: 3,
  maxRunningPerKey: 3,
  waitMs: 60_000,
  refuse: (reason) => new Error(reason),
});

/** Records the openings of all minutes that are over by then. */
const recordAfter = (ms: number) =>
  recordOpenings({
    pool: fixture.service.sql,
    rowTurns,
    keyRing: RING,
    clock: () => new Date(Date.now() + fixture.service.now.offsetMs + ms),
    log: silentLog,
  });

/** The audit log's records of the retailer's reads, each with its outcome. */
async function readsInAuditLog(): Promise<string[]> {
  const { rows } = await fixture.service.sql.query(
    `SELECT action, outcome FROM audit_records WHERE retailer_id = $1 AND action ~ 'READ' ORDER BY seq`,
    [fixture.applicant.retailerId],
  );
  return rows.map(({ action, outcome }) => (outcome === null ? action : `${action} ${outcome}`));
}

const ofDocument = (action: string) => action.startsWith('DOCUMENT');

/** Runs `work` while another session holds the head of the retailer's chain. */
function whileHeadIsHeld<T>(work: (tx: Queryable) => Promise<T>): Promise<T> {
  return inTransaction(fixture.service.sql, async (tx) => {
    const held = 'SELECT FROM audit_heads WHERE retailer_id = $1 FOR UPDATE';
    await tx.query(held, [fixture.applicant.retailerId]);
    return work(tx);
  });
}

const untilGauge = (name: string, value: number) =>
  expect
    .poll(() => fixture.service.metrics.text())
    .toMatch(new RegExp(`^creditlane_${RegExp.escape(name)} ${value}$`, 'm'));
const ROW_GAUGE = 'database_connections{database="credit-file",state="waiting_for_row"}';
const BUSY_GAUGE = 'database_connections{database="credit-file",state="busy"}';

describe('openings of a link within a minute', () => {
  test('are a record of the first one, and one that counts the others once the minute is over', async () => {
    for (let opening = 0; opening < 4; opening += 1) await open();
    await open(await newLink());
    await recordAfter(0);
    const first = ['DOCUMENT_READ', 'DOCUMENT_READ'];
    expect((await readsInAuditLog()).filter(ofDocument)).toEqual(first);
    await recordAfter(MINUTE_MS);
    await recordAfter(MINUTE_MS);
    const all = [...first, 'DOCUMENT_READ_AGAIN 3'];
    expect((await readsInAuditLog()).filter(ofDocument)).toEqual(all);
    const { retailerId } = fixture.applicant;
    const { rows } = await fixture.service.sql.query(
      `SELECT again.pull_id = first.pull_id AND again.file_id = first.file_id AND again.recorded_at >= first.recorded_at
         AND again.request_id = first.request_id AND again.consent_id = first.consent_id AS fits
       FROM audit_records AS again JOIN audit_records AS first USING (retailer_id)
       WHERE retailer_id = $1 AND again.action = 'DOCUMENT_READ_AGAIN' AND first.action = 'DOCUMENT_READ' ORDER BY first.seq LIMIT 1`,
      [retailerId],
    );
    expect(rows).toEqual([{ fits: true }]);
    const verified = await verifyChain(fixture.service.sql, RING, retailerId);
    expect(verified.kind).toBe('whole');
  });

  test('are recorded once by replicas that record at the same time', async () => {
    for (let opening = 0; opening < 3; opening += 1) await open();
    await Promise.all([1, 2, 3].map(() => recordAfter(MINUTE_MS)));
    const all = ['DOCUMENT_READ', 'DOCUMENT_READ_AGAIN 2'];
    expect((await readsInAuditLog()).filter(ofDocument)).toEqual(all);
  });

  test('are twenty; further ones are refused until the next minute, and other links are opened', async () => {
    for (let opening = 0; opening < 20; opening += 1) await open();
    const refusal = { kind: 'resource_exhausted', code: 'rate_limited' };
    for (let opening = 0; opening < 3; opening += 1) {
      await expect(open()).rejects.toMatchObject(refusal);
    }
    await open(await newLink());
    fixture.service.now.offsetMs += MINUTE_MS;
    await open();
    await recordAfter(0);
    expect(await readsInAuditLog()).toContain('DOCUMENT_READ_AGAIN 19');
  });

  test('are twenty over all replicas', async () => {
    const replica = await fixture.service.startReplica();
    for (let opening = 0; opening < 10; opening += 1) {
      await open();
      await replica.client.readDocument(link, AS_GATEWAY);
    }
    const refusal = { code: 'rate_limited', retryAfterS: expect.any(Number) };
    await expect(open()).rejects.toMatchObject(refusal);
    await expect(replica.client.readDocument(link, AS_GATEWAY)).rejects.toMatchObject(refusal);
  });
});

describe('while the retailer’s audit log is locked', () => {
  test('a caller that leaves leaves no record, and the retailer’s others have theirs', async () => {
    const { service, applicant } = fixture;
    const before = await readsInAuditLog();
    const reads = await whileHeadIsHeld(async () => {
      const waiting = Array.from({ length: 5 }, () => read(service, applicant));
      await untilGauge(ROW_GAUGE, 3);
      const leaving = Array.from({ length: 5 }, () => {
        const caller = new AbortController();
        return { caller, read: read(service, applicant, { signal: caller.signal }) };
      });
      await untilGauge(ROW_GAUGE, 8);
      const left = leaving.map(({ read }) => expect(read).rejects.toMatchObject(CANCELLED));
      for (const { caller } of leaving) caller.abort();
      await Promise.all(left);
      await untilGauge(ROW_GAUGE, 3);
      return { waiting };
    });
    await Promise.all(reads.waiting);
    const after = await readsInAuditLog();
    expect(after.length - before.length).toBe(5);
  });

  test('an opening whose holder hangs up keeps its turn until it is recorded', async () => {
    const holder = new AbortController();
    const other = await newLink();
    await whileHeadIsHeld(async () => {
      const left = [1, 2].map(() =>
        expect(open(link, holder.signal)).rejects.toMatchObject(CANCELLED),
      );
      await untilGauge(BUSY_GAUGE, 2);
      holder.abort();
      await Promise.all(left);
      await expect(open()).rejects.toMatchObject({ code: 'too_many_under_way' });
      const next = new AbortController();
      const waiting = expect(open(other, next.signal)).rejects.toMatchObject(CANCELLED);
      next.abort();
      await waiting;
    });
    const isOpened = () =>
      open().then(
        () => true,
        () => false,
      );
    await expect.poll(isOpened).toBe(true);
    expect((await readsInAuditLog()).filter(ofDocument)).toEqual(['DOCUMENT_READ']);
  });
});

import { randomUUID } from 'node:crypto';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { DecisionValue } from '@creditlane/proto/decisions/v1/decision';
import { describe, expect, test } from 'vitest';
import { asIntegration, decideOn, useSubmission } from './test-decisions.ts';

const INTEGRATION = randomUUID();

const fixture = useSubmission();

type Scope = { creditorId?: string; retailerId?: string };
const ids = () => ({
  applicationId: fixture.submission.applicationId,
  creditorId: fixture.submission.creditorId,
});
const creditorScope = (): Scope => ({ creditorId: fixture.submission.creditorId });
const retailerScope = (): Scope => ({ retailerId: fixture.submission.retailerId });

const decide = (term: number, conditions?: string) =>
  decideOn(
    fixture.service,
    fixture.submission,
    { term, ...(conditions !== undefined && { conditions }) },
    { subject: INTEGRATION },
  );
const latest = async (scope: Scope) =>
  (await fixture.service.client.getDecision(ids(), asIntegration(scope))).decision;
const page = (scope: Scope, limit: number, cursor = '') =>
  fixture.service.client.listDecisions({ ...ids(), limit, cursor }, asIntegration(scope));

describe('the latest decision', () => {
  test('of a new submission is AWAITING_DECISION', async () => {
    expect(await latest(creditorScope())).toMatchObject({
      decision: DecisionValue.AWAITING_DECISION,
    });
  });

  test('is the decision recorded last, without fields of earlier decisions', async () => {
    await decide(60);
    await fixture.service.client.recordDecision(
      { ...ids(), decision: { decision: DecisionValue.WITHDRAWN } },
      asIntegration(creditorScope()),
    );
    const decision = await latest(creditorScope());
    expect(decision?.decision).toBe(DecisionValue.WITHDRAWN);
    expect(decision?.term).toBeUndefined();
  });

  test('is the same for the creditor and for the retailer', async () => {
    await decide(72);
    expect(await latest(retailerScope())).toEqual(await latest(creditorScope()));
  });
});

describe('the history', () => {
  test('holds all decisions, newest first, each with its integration and time', async () => {
    await decide(1);
    await decide(2);
    for (const scope of [creditorScope(), retailerScope()]) {
      const { decisions, nextCursor } = await page(scope, 100);
      expect(decisions.map(({ sequence, decision }) => [sequence, decision?.term])).toEqual([
        [3n, 2],
        [2n, 1],
        [1n, undefined],
      ]);
      expect(decisions.map(({ integrationId }) => integrationId)).toEqual([
        INTEGRATION,
        INTEGRATION,
        '',
      ]);
      const submittedAt = decisions.at(-1)?.recordedAt;
      expect(submittedAt && timestampDate(submittedAt)).toEqual(
        new Date('2026-01-02T03:04:05.678Z'),
      );
      expect(nextCursor).toBe('');
    }
  });

  test('has pages that neither repeat nor miss a decision while decisions are recorded', async () => {
    for (let term = 2; term <= 5; term += 1) await decide(term);
    const first = await page(creditorScope(), 2);
    await decide(6);
    const second = await page(creditorScope(), 2, first.nextCursor);
    const third = await page(creditorScope(), 2, second.nextCursor);
    const sequences = [first, second, third].map(({ decisions }) =>
      decisions.map(({ sequence }) => Number(sequence)),
    );
    expect(sequences).toEqual([[5, 4], [3, 2], [1]]);
    expect(third.nextCursor).toBe('');
  });

  test('of long conditions has shorter pages, on which each decision is once', async () => {
    for (let count = 0; count < 9; count += 1) await decide(count + 2, '\u0001'.repeat(10_000));
    const first = await page(creditorScope(), 100);
    const second = await page(creditorScope(), 100, first.nextCursor);
    const third = await page(creditorScope(), 100, second.nextCursor);
    // JSON escapes the conditions with 60 KB each, of which a page has room for four.
    expect(
      [first, second, third].map(({ decisions }) =>
        decisions.map(({ sequence }) => Number(sequence)),
      ),
    ).toEqual([
      [10, 9, 8, 7],
      [6, 5, 4, 3],
      [2, 1],
    ]);
    expect(third.nextCursor).toBe('');
  });

  test('ends with its last page, also when that page is full', async () => {
    await decide(2);
    const only = await page(creditorScope(), 2);
    expect(only.decisions).toHaveLength(2);
    expect(only.nextCursor).toBe('');
  });

  test('with a cursor that the service did not make, or a limit out of range, is refused', async () => {
    await expect(page(creditorScope(), 2, 'elsewhere')).rejects.toMatchObject({
      kind: 'invalid',
      fields: [{ pointer: '/cursor' }],
    });
    for (const limit of [0, 101]) {
      await expect(page(creditorScope(), limit)).rejects.toMatchObject({
        kind: 'invalid',
        fields: [{ pointer: '/limit' }],
      });
    }
  });
});

test('another creditor, another retailer and a caller without scope find no submission', async () => {
  const notFound = { kind: 'not_found', code: 'submission_not_found' };
  for (const scope of [{ creditorId: randomUUID() }, { retailerId: randomUUID() }, {}]) {
    await expect(latest(scope)).rejects.toMatchObject(notFound);
    await expect(page(scope, 25)).rejects.toMatchObject(notFound);
  }
});

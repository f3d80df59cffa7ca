import { randomUUID } from 'node:crypto';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { DecisionValue } from '@creditlane/proto/decisions/v1/decision';
import { describe, expect, test } from 'vitest';
import { asIntegration, withSubmissionToDecide } from './test-decisions.ts';

const INTEGRATION = randomUUID();

const world = withSubmissionToDecide();

type Side = { creditorId?: string; retailerId?: string };
const ids = () => ({
  applicationId: world.submission.applicationId,
  creditorId: world.submission.creditorId,
});
const creditorSide = (): Side => ({ creditorId: world.submission.creditorId });
const retailerSide = (): Side => ({ retailerId: world.submission.retailerId });

const decide = (term: number) =>
  world.service.client.recordDecision(
    { ...ids(), decision: { decision: DecisionValue.APPROVED, term } },
    asIntegration(creditorSide(), { subject: INTEGRATION }),
  );
const latest = async (side: Side) =>
  (await world.service.client.getDecision(ids(), asIntegration(side))).decision;
const page = (side: Side, limit: number, cursor = '') =>
  world.service.client.listDecisions({ ...ids(), limit, cursor }, asIntegration(side));

describe('the latest decision', () => {
  test('is AWAITING_DECISION from the submission on', async () => {
    expect(await latest(creditorSide())).toMatchObject({
      decision: DecisionValue.AWAITING_DECISION,
    });
  });

  test('is the one recorded last, with its own figures and no other’s', async () => {
    await decide(60);
    await world.service.client.recordDecision(
      { ...ids(), decision: { decision: DecisionValue.WITHDRAWN } },
      asIntegration(creditorSide()),
    );
    const decision = await latest(creditorSide());
    expect(decision?.decision).toBe(DecisionValue.WITHDRAWN);
    expect(decision?.term).toBeUndefined();
  });

  test('is the same to the creditor and to the retailer', async () => {
    await decide(72);
    expect(await latest(retailerSide())).toEqual(await latest(creditorSide()));
  });
});

describe('the history', () => {
  test('is all decisions, newest first, each with who recorded it and when', async () => {
    await decide(1);
    await decide(2);
    for (const side of [creditorSide(), retailerSide()]) {
      const { decisions, nextCursor } = await page(side, 100);
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

  test('comes in pages that neither repeat nor miss a decision, also while more are made', async () => {
    for (let term = 2; term <= 5; term += 1) await decide(term);
    const first = await page(creditorSide(), 2);
    await decide(6);
    const second = await page(creditorSide(), 2, first.nextCursor);
    const third = await page(creditorSide(), 2, second.nextCursor);
    const sequences = [first, second, third].map(({ decisions }) =>
      decisions.map(({ sequence }) => Number(sequence)),
    );
    expect(sequences).toEqual([[5, 4], [3, 2], [1]]);
    expect(third.nextCursor).toBe('');
  });

  test('ends with its last page, also when that one is full', async () => {
    await decide(2);
    const only = await page(creditorSide(), 2);
    expect(only.decisions).toHaveLength(2);
    expect(only.nextCursor).toBe('');
  });

  test('refuses a cursor that it never gave, and a page of no or too many decisions', async () => {
    await expect(page(creditorSide(), 2, 'elsewhere')).rejects.toMatchObject({
      kind: 'invalid',
      fields: [{ pointer: '/cursor' }],
    });
    for (const limit of [0, 101]) {
      await expect(page(creditorSide(), limit)).rejects.toMatchObject({
        kind: 'invalid',
        fields: [{ pointer: '/limit' }],
      });
    }
  });
});

test('another creditor, another retailer and a caller without scope see no submission', async () => {
  const missing = { kind: 'not_found', code: 'submission_not_found' };
  for (const side of [{ creditorId: randomUUID() }, { retailerId: randomUUID() }, {}]) {
    await expect(latest(side)).rejects.toMatchObject(missing);
    await expect(page(side, 25)).rejects.toMatchObject(missing);
  }
});

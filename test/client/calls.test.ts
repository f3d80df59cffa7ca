import { randomUUID } from 'node:crypto';
import { type Client, CreditlaneError } from '@creditlane/client';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { SubmissionIds } from '../platform/api-client.ts';
import { type Fault, startFaultyProxy } from '../platform/faulty-proxy.ts';
import { startTestPlatform, type TestPlatform } from '../platform/test-platform.ts';

describe('a program that uses the TypeScript client', () => {
  let platform: TestPlatform;
  let client: Client;
  let submission: SubmissionIds;
  beforeAll(async () => {
    platform = await startTestPlatform();
    client = platform.connect();
  });
  afterAll(() => platform.close());
  beforeEach(async () => {
    submission = await platform.submitNewApplication();
  });

  const decide = (through: Client, conditions: string) =>
    through.recordDecision({
      path: submission,
      body: { applicationId: submission.applicationId, decision: 'APPROVED', conditions },
    });

  /** Conditions of all decisions on the submission, oldest first, without that of the submission itself. */
  async function recordedConditions(): Promise<(string | undefined)[]> {
    const { body } = await client.listDecisions({ path: submission, query: { limit: 100 } });
    return body.data
      .map(({ conditions }) => conditions)
      .toReversed()
      .slice(1);
  }

  const FAULTS: Fault[] = ['lose-request', 'lose-answer', 'cut-answer', 'unavailable'];
  test.each(FAULTS)(
    'records one decision when its first two attempts meet the fault %s',
    async (fault) => {
      let attempts = 0;
      const proxy = await startFaultyProxy(platform.demo.baseUrl, () => {
        attempts += 1;
        return attempts <= 2 ? fault : 'none';
      });
      const { body, replayed } = await decide(platform.connect({ baseUrl: proxy.baseUrl }), fault);
      expect(body.decision).toBe('APPROVED');
      expect(replayed).toBe(fault === 'lose-answer' || fault === 'cut-answer');
      expect(new Set(proxy.requests.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
      expect(proxy.requests).toHaveLength(3);
      expect(await recordedConditions()).toEqual([fault]);
    },
  );

  test('records each of forty decisions once when most of their attempts at once meet faults', async () => {
    let count = 0;
    const seen = new Map<string | undefined, number>();
    const proxy = await startFaultyProxy(platform.demo.baseUrl, ({ idempotencyKey }) => {
      const attempts = (seen.get(idempotencyKey) ?? 0) + 1;
      seen.set(idempotencyKey, attempts);
      count += 1;
      return attempts <= 2 ? (FAULTS[count % FAULTS.length] ?? 'none') : 'none';
    });
    const through = platform.connect({ baseUrl: proxy.baseUrl, maxAttempts: 10 });
    const conditions = Array.from({ length: 40 }, (_, index) => `condition ${index}`);
    await Promise.all(conditions.map((condition) => decide(through, condition)));
    expect((await recordedConditions()).toSorted()).toEqual(conditions.toSorted());
  });

  test('records one decision when it repeats a call without an answer by the key of the error', async () => {
    const proxy = await startFaultyProxy(platform.demo.baseUrl, () => 'lose-answer');
    const unlucky = platform.connect({ baseUrl: proxy.baseUrl, maxAttempts: 1 });
    const error = await decide(unlucky, 'once').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(CreditlaneError);
    const { status, code, idempotencyKey = '' } = error as CreditlaneError;
    expect([status, code]).toEqual([undefined, 'network_failure']);

    const repeated = await client.recordDecision({
      path: submission,
      body: { applicationId: submission.applicationId, decision: 'APPROVED', conditions: 'once' },
      header: { 'Idempotency-Key': idempotencyKey },
    });
    expect(repeated.replayed).toBe(true);
    expect(await recordedConditions()).toEqual(['once']);
  });

  test('reads thousands of records of a list in order, with a request for each hundred and none ahead', async () => {
    const { applicationId, creditorId } = submission;
    await platform.runSql(
      'decisions',
      `INSERT INTO decisions (application_id, creditor_id, seq, recorded_at, decision)
       SELECT '${applicationId}', '${creditorId}', seq, now(), 'INCOMPLETE'
       FROM generate_series(2, 2500) AS seq`,
    );
    const proxy = await startFaultyProxy(platform.demo.baseUrl, () => 'none');
    const through = platform.connect({ baseUrl: proxy.baseUrl });
    const sequences: number[] = [];
    for await (const { sequence } of through.listDecisions.each({ path: submission })) {
      sequences.push(sequence);
    }
    expect(sequences).toEqual(Array.from({ length: 2500 }, (_, index) => 2500 - index));
    expect(proxy.requests).toHaveLength(25);

    for await (const { sequence } of through.listDecisions.each({ path: submission })) {
      if (sequence === 2400) break;
    }
    expect(proxy.requests).toHaveLength(25 + 2);
  });

  test('continues a list whose second page meets faults without a gap and without a repetition', async () => {
    let requests = 0;
    const proxy = await startFaultyProxy(platform.demo.baseUrl, () => {
      requests += 1;
      return requests === 2 ? 'cut-answer' : 'none';
    });
    for (const condition of ['1', '2', '3']) await decide(client, condition);
    const found: (string | undefined)[] = [];
    const list = platform.connect({ baseUrl: proxy.baseUrl }).listDecisions;
    for await (const { conditions } of list.each({ path: submission, query: { limit: 2 } })) {
      found.push(conditions);
    }
    expect(found).toEqual(['3', '2', '1', undefined]);
    expect(requests).toBe(3);
  });

  test('gets the platform’s status, code, message, fields and request id as one error', async () => {
    const call = client.recordDecision({
      path: submission,
      body: { applicationId: submission.applicationId, decision: 'DRAFT' as 'BOOKED' },
      header: { 'X-Request-Id': 'order-7781' },
    });
    await expect(call).rejects.toMatchObject({
      name: 'CreditlaneError',
      status: 400,
      code: 'invalid_request',
      message: expect.stringMatching(/^\/decision must be one of/),
      requestId: 'order-7781',
      errors: [{ pointer: '/decision', message: expect.any(String) }],
      retryable: false,
    });
  });

  test('reaches the operation of each of its functions: with a rejected key, each that takes one is answered with 401', async () => {
    const rejected = platform.connect({ apiKey: platform.makeUnissuedKey(), maxAttempts: 1 });
    const path = new Proxy({}, { get: () => randomUUID() });
    const answers: Record<string, object> = {
      // Their 401 has a status and nothing else.
      requestCreditFile: { status: 401, code: 'http_401' },
      readCreditFile: { status: 401, code: 'http_401' },
      // Its link is signed, and it takes no key.
      readCreditFileDocument: { status: 400, code: 'invalid_request' },
    };
    for (const [id, operation] of Object.entries(rejected)) {
      const call = (operation as (input: object) => Promise<unknown>)({ path });
      const answer = answers[id] ?? { status: 401, code: 'key_rejected' };
      await expect(call, id).rejects.toMatchObject(answer);
    }
  });

  test('acts for the retailer that it was made for, or that a call names', async () => {
    const { demo } = platform;
    const ownRetailer = platform.connect({ retailerId: demo.retailerId });
    expect((await ownRetailer.getDecision({ path: submission })).body.decision).toBe(
      'AWAITING_DECISION',
    );
    const header = { 'X-Service-Retailer-ID': demo.otherTenant.retailerId };
    const call = ownRetailer.getDecision({ path: submission, header });
    await expect(call).rejects.toMatchObject({ status: 400, code: 'submission_not_found' });
  });
});

describe('a program that exceeds its rate limit', () => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await startTestPlatform({
      everywhere: { RATE_LIMIT_REQUESTS: '100', RATE_LIMIT_WINDOW: '10s' },
    });
  });
  afterAll(() => platform.close());

  test('succeeds with all calls, later, because the client honours Retry-After', async () => {
    let refusals = 0;
    const client = platform.connect({
      apiKey: (await platform.issueKey()).key,
      maxAttempts: 20,
      async fetch(...request) {
        const response = await fetch(...request);
        if (response.status === 429) refusals += 1;
        return response;
      },
    });
    // The limit refills with ten requests a second, so a slow machine needs more calls until one is refused.
    while (refusals === 0) {
      const answers = await Promise.all(Array.from({ length: 60 }, () => client.listUsers()));
      expect(answers.map(({ status }) => status)).toEqual(Array(60).fill(200));
    }
  });
});

import { expect, test } from 'vitest';
import { notFound, unauthenticated } from '../fault.ts';
import {
  faultOf,
  GET_DECISION,
  MOUNTS,
  startTestService,
  TEST_INTEGRATION,
} from '../test-service.ts';

const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const CONTEXT = { identity: TEST_INTEGRATION, requestId: 'order-7781', traceparent: TRACEPARENT };
const IDS = { requestId: 'order-7781', traceId: '4bf92f3577b34da6a3ce929d0e0e4736' };

test.each(MOUNTS)(
  'every log entry of a call over %s has its request id and its trace id',
  async (mount) => {
    const { decisions, logged } = await startTestService(mount, {
      listDecisions: () => Promise.reject(notFound('submission_not_found', 'none such')),
      recordDecision: () => Promise.reject(new Error('the SIN 046454286 is not a number')),
    });
    await decisions.getDecision(GET_DECISION, CONTEXT);
    await faultOf(decisions.listDecisions({ ...GET_DECISION, limit: 1 }, CONTEXT));
    await faultOf(
      decisions.recordDecision({ ...GET_DECISION, decision: { decision: 1 } }, CONTEXT),
    );
    const lines = logged().filter(({ rpc }) => rpc !== undefined);
    expect(lines.map(({ code }) => code)).toEqual(['ok', 'not_found', 'internal']);
    for (const line of lines) expect(line).toMatchObject(IDS);
    expect(JSON.stringify(lines)).not.toContain('046454286');
  },
);

test('the handler gets the traceparent of its call, or none when it is malformed', async () => {
  const { decisions, handled } = await startTestService('memory');
  await decisions.getDecision(GET_DECISION, CONTEXT);
  await decisions.getDecision(GET_DECISION, { ...CONTEXT, traceparent: 'nonsense' });
  expect(handled.map(({ traceparent }) => traceparent)).toEqual([TRACEPARENT, undefined]);
});

test('a call whose handler refuses a credential has no line at level warn', async () => {
  const { decisions, logged } = await startTestService('memory', {
    getDecision: () => Promise.reject(unauthenticated('key_unknown', 'no caller has this key')),
  });
  await faultOf(decisions.getDecision(GET_DECISION, CONTEXT));
  const lines = logged().filter(({ rpc }) => rpc !== undefined);
  expect(lines.map(({ level }) => level)).toEqual(['debug']);
});

test('of calls without a token, each second has five lines at level warn', async () => {
  const { port, logged } = await startTestService('http');
  const methods = ['GetDecision', 'ListDecisions', 'RecordDecision'];
  const startedMs = performance.now();
  for (let index = 0; index < 60; index += 1) {
    const path = `/creditlane.decisions.v1.DecisionsService/${methods[index % methods.length]}`;
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers,
      body: '{}',
    });
    expect(answer.status).toBe(401);
  }
  const seconds = Math.ceil((performance.now() - startedMs) / 1_000);
  const warnings = logged().filter(({ level }) => level === 'warn');
  expect(warnings.length).toBeGreaterThanOrEqual(5);
  expect(warnings.length).toBeLessThanOrEqual(5 * (seconds + 1));
});

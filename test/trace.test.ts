import {
  type OtlpReceiver,
  type ReceivedSpan,
  startOtlpReceiver,
} from '@creditlane/runtime/test-otlp-receiver';
import { createTestProcess } from '@creditlane/runtime/test-process';
import { startTracing } from '@creditlane/runtime/tracing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decisionPath } from './api.ts';
import { eventually } from './eventually.ts';
import { startWorld, type World } from './world.ts';

const DECISIONS = 'creditlane.decisions.v1';
const ROUTE = '/v1/applications/{applicationId}/creditors/{creditorId}/decision';
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = `00-${TRACE}-00f067aa0ba902b7-01`;

describe('a decision is one trace, from the request to the attempt at its webhook', () => {
  const life = createTestProcess('creditlane');
  let receiver: OtlpReceiver;
  let world: World;

  beforeAll(async () => {
    receiver = await startOtlpReceiver();
    const { endpoint } = receiver;
    // In one process it is this one that records the spans, else each service's own.
    await startTracing({ endpoint, sampledShare: 1 }, 'creditlane', life);
    world = await startWorld({
      dispatcher: { RETRY_DELAYS: '20ms,20ms' },
      everywhere: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint },
    });
  });
  afterAll(async () => {
    await world.close();
    await life.closers.close();
    await receiver.close();
  });

  /** The spans of a trace, once `last` is among them as often as that. */
  const spansOf = (traceId: string, last: string, times = 1) =>
    eventually(`span ${last}`, async () => {
      const spans = receiver.spans.filter((span) => span.traceId === traceId);
      return spans.filter(({ name }) => name === last).length >= times ? spans : undefined;
    });

  test('each step is caused by the one before it, the first by the caller', async () => {
    const submission = await world.submitApplication();
    await world.settle();
    await world.decide(submission, { decision: 'APPROVED' }, { traceparent: CALLER });
    const spans = await spansOf(TRACE, 'webhook applicationApproved');
    expect(pathTo('webhook applicationApproved', spans)).toEqual([
      '00f067aa0ba902b7',
      `POST ${ROUTE}`,
      `${DECISIONS}.DecisionsService/RecordDecision`,
      `publish ${DECISIONS}`,
      `handle ${DECISIONS}`,
      'webhook applicationApproved',
    ]);
    expect(spans.every(({ failed }) => !failed)).toBe(true);
    const [request] = spans.filter(({ name }) => name === `POST ${ROUTE}`);
    expect(request?.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.response.status_code': '200',
      'http.route': ROUTE,
      'creditlane.application.id': submission.applicationId,
      'creditlane.creditor.id': submission.creditorId,
    });
  });

  test('a submission is one as well, over two topics', async () => {
    await world.submitApplication();
    const last = 'webhook awaitingDecision';
    const { traceId } = await eventually('span', async () =>
      receiver.spans.findLast(({ name }) => name === last),
    );
    const steps = pathTo(last, await spansOf(traceId, last));
    expect(steps.slice(2)).toEqual([
      'creditlane.applications.v1.ApplicationsService/SubmitApplication',
      'publish creditlane.applications.v1',
      'handle creditlane.applications.v1',
      `publish ${DECISIONS}`,
      `handle ${DECISIONS}`,
      last,
    ]);
  });

  test('attempts that fail show as failed, each in the same trace', async () => {
    const submission = await world.submitApplication();
    await world.settle();
    await world.inbox.behave('fail');
    const traceId = TRACE.replace('4bf9', 'aaaa');
    const traceparent = CALLER.replace(TRACE, traceId);
    await world.decide(submission, { decision: 'DECLINED' }, { traceparent });
    const spans = await spansOf(traceId, 'webhook applicationDeclined', 3);
    await world.inbox.behave('accept');
    const attempts = spans.filter(({ name }) => name === 'webhook applicationDeclined');
    expect(attempts.map(({ attributes }) => attributes['creditlane.webhook.attempt'])).toEqual([
      '1',
      '2',
      '3',
    ]);
    expect(new Set(attempts.map(({ parentSpanId }) => parentSpanId)).size).toBe(1);
    expect(attempts.every(({ failed }) => failed)).toBe(true);
  });

  test('a refusal is a trace too, and no failure of ours', async () => {
    const submission = await world.submitApplication();
    const traceId = TRACE.replace('4bf9', 'bbbb');
    const headers = { traceparent: CALLER.replace(TRACE, traceId) };
    await world.api.post(decisionPath(submission), { decision: 'PERHAPS' }, { headers });
    const [span] = await spansOf(traceId, `POST ${ROUTE}`);
    expect(span).toMatchObject({
      failed: false,
      attributes: { 'http.response.status_code': '400' },
    });
  });

  test('nothing about a person, a key, a secret or a destination is in any of it', async () => {
    const sent = receiver.texts.join('\n');
    const { keys, webhookSecret, inboxUrl } = world.demo;
    const person = ['Tremblay', 'Maya', '046454286', 'Sherbrooke', 'Northern Lights', '555 0143'];
    const secrets = [...person, ...Object.values(keys), webhookSecret, new URL(inboxUrl).host];
    expect(secrets.filter((secret) => sent.includes(secret))).toEqual([]);
  });
});

/** The names of the spans that lead to one, by their parents; first the id that none of them has. */
function pathTo(name: string, spans: readonly ReceivedSpan[]): string[] {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const steps: string[] = [];
  let at = spans.find((span) => span.name === name);
  while (at !== undefined) {
    steps.unshift(at.name);
    const above = byId.get(at.parentSpanId);
    if (above === undefined) steps.unshift(at.parentSpanId);
    at = above;
  }
  return steps;
}

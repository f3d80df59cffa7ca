import {
  type OtlpReceiver,
  type ReceivedSpan,
  startOtlpReceiver,
} from '@creditlane/runtime/telemetry/test-otlp-receiver';
import { startTracing } from '@creditlane/runtime/telemetry/tracing';
import { createTestProcess } from '@creditlane/runtime/test-process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decisionPath } from './platform/api-client.ts';
import { eventually } from './platform/eventually.ts';
import { startTestPlatform, type TestPlatform } from './platform/test-platform.ts';

const APPLICATIONS = 'creditlane.applications.v1';
const DECISIONS = 'creditlane.decisions.v1';
const INTEGRATIONS = 'creditlane.integrations.v1';
const ROUTE = '/v1/applications/{applicationId}/creditors/{creditorId}/decision';
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = `00-${TRACE}-00f067aa0ba902b7-01`;

describe('a decision is one trace, from the request to the attempt at its webhook', () => {
  const life = createTestProcess('creditlane');
  let receiver: OtlpReceiver;
  let world: TestPlatform;

  beforeAll(async () => {
    receiver = await startOtlpReceiver();
    const { endpoint } = receiver;
    // In one process it is this one that records the spans, else each service's own.
    await startTracing({ endpoint, sampleRatio: 1 }, 'creditlane', life);
    world = await startTestPlatform({
      dispatcher: { RETRY_DELAYS: '20ms,20ms' },
      everywhere: {
        OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
        // What is remembered is not asked for, and has no place in the trace.
        ACCESS_CACHE_TIME: '0s',
        DESTINATIONS_CACHE: '0s',
      },
    });
  });
  afterAll(async () => {
    await world.close();
    await life.closers.close();
    await receiver.close();
  });

  const spansIn = (traceId: string) => receiver.spans.filter((span) => span.traceId === traceId);

  /** The spans of a trace, once `last` is among them as often as that. */
  const spansOf = (traceId: string, last: string, times = 1) =>
    eventually(`span ${last}`, async () => {
      const spans = spansIn(traceId);
      return spans.filter(({ name }) => name === last).length >= times ? spans : undefined;
    });

  /** A trace as a tree, once it is that; nothing may be missing from it, be in it twice or be left over. */
  const expectTree = (traceId: string, root: string, tree: Step[]) =>
    expect
      .poll(() => stepsBelow(root, spansIn(traceId)), { timeout: 10_000, interval: 100 })
      .toEqual(sorted(tree));

  test('each step is caused by the one before it, the first by the caller', async () => {
    const submission = await world.submitApplication();
    await world.settle();
    await world.decide(submission, { decision: 'APPROVED' }, { traceparent: CALLER });
    await expectTree(TRACE, '00f067aa0ba902b7', [
      server(`POST ${ROUTE}`, [
        call(`${INTEGRATIONS}.AccessService/Authenticate`),
        call(`${INTEGRATIONS}.AccessService/CheckGrants`),
        call(`${DECISIONS}.DecisionsService/RecordDecision`, [told('applicationApproved')]),
      ]),
    ]);
    const spans = spansIn(TRACE);
    expect(spans.every(({ failed }) => !failed)).toBe(true);
    const [recording] = spans.filter(({ name }) => name.endsWith('/RecordDecision'));
    expect(recording?.attributes).toMatchObject({
      'rpc.service': `${DECISIONS}.DecisionsService`,
      'rpc.method': 'RecordDecision',
    });
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
    await expectTree(traceId, '', [
      server('POST /v1/applications/{applicationId}/submit', [
        call(`${INTEGRATIONS}.AccessService/Authenticate`),
        call(`${APPLICATIONS}.ApplicationsService/LocateApplication`),
        call(`${INTEGRATIONS}.AccessService/CheckGrants`),
        call(`${APPLICATIONS}.ApplicationsService/SubmitApplication`, [
          [
            'producer',
            `publish ${APPLICATIONS}`,
            [['consumer', `handle ${APPLICATIONS}`, [told('awaitingDecision')]]],
          ],
        ]),
      ]),
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
    const name = `POST ${ROUTE}`;
    const spans = await spansOf(traceId, name);
    expect(spans.find((span) => span.name === name)).toMatchObject({
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

/** A span with those that it caused: its kind, its name, and them. */
type Step = [kind: string, name: string, caused: Step[]];

const KINDS = ['', 'internal', 'server', 'client', 'producer', 'consumer'];

const server = (name: string, caused: Step[]): Step => ['server', name, caused];

/** A call between services: the caller's span, and within it that of who answers. */
const call = (name: string, caused: Step[] = []): Step => ['client', name, [server(name, caused)]];

/** A decision's way from the outbox to the attempt at its webhook. */
const told = (event: string): Step => [
  'producer',
  `publish ${DECISIONS}`,
  [
    [
      'consumer',
      `handle ${DECISIONS}`,
      [
        call(`${INTEGRATIONS}.DestinationsService/FindRecipients`),
        [
          'client',
          `webhook ${event}`,
          [call(`${INTEGRATIONS}.DestinationsService/GetDestinations`)],
        ],
      ],
    ],
  ],
];

/** What a span caused, by its id; empty for what began the trace. */
function stepsBelow(id: string, spans: readonly ReceivedSpan[]): Step[] {
  const caused = spans.filter(({ parentSpanId }) => parentSpanId === id);
  return sorted(
    caused.map(({ kind, name, spanId }) => [KINDS[kind] ?? '', name, stepsBelow(spanId, spans)]),
  );
}

/** Steps of one cause have no order. */
function sorted(steps: readonly Step[]): Step[] {
  return steps
    .map(([kind, name, caused]): Step => [kind, name, sorted(caused)])
    .toSorted(([, one], [, other]) => one.localeCompare(other));
}

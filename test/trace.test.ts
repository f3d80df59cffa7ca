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

describe('the spans of one request, up to the webhook attempts, form one trace', () => {
  const testProcess = createTestProcess('creditlane');
  let receiver: OtlpReceiver;
  let platform: TestPlatform;

  beforeAll(async () => {
    receiver = await startOtlpReceiver();
    const { endpoint } = receiver;
    // In the run mode one-process, this process records the spans; otherwise each service does.
    await startTracing({ endpoint, sampleRatio: 1 }, 'creditlane', testProcess);
    platform = await startTestPlatform({
      dispatcher: { RETRY_DELAYS: '20ms,20ms' },
      everywhere: {
        OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
        // A cached answer needs no call, so that the span of the call would be missing.
        ACCESS_CACHE_TIME: '0s',
        DESTINATIONS_CACHE: '0s',
      },
    });
  });
  afterAll(async () => {
    await platform.close();
    await testProcess.closers.close();
    await receiver.close();
  });

  const spansIn = (traceId: string) => receiver.spans.filter((span) => span.traceId === traceId);

  /** Resolves with the spans of a trace once it contains `count` spans with this name. */
  const waitForSpans = (traceId: string, spanName: string, count = 1) =>
    eventually(`span ${spanName}`, async () => {
      const spans = spansIn(traceId);
      return spans.filter(({ name }) => name === spanName).length >= count ? spans : undefined;
    });

  /**
   * Expects that a trace's spans form exactly these trees; missing or additional spans fail. The call that takes
   * a number of requests from the quota of a key belongs to whichever request finds none left.
   */
  const expectTree = (traceId: string, rootParentId: string, trees: SpanTree[]) => {
    const spans = () => spansIn(traceId).filter(({ name }) => !name.endsWith('/TakeRequests'));
    return expect
      .poll(() => treesBelow(rootParentId, spans()), { timeout: 30_000, interval: 100 })
      .toEqual(sortByName(trees));
  };

  test('the trace of a decision continues the caller’s, and each span is a child of the step that caused it', async () => {
    const submission = await platform.submitNewApplication();
    await platform.settle();
    await platform.recordDecision(submission, { decision: 'APPROVED' }, { traceparent: CALLER });
    await expectTree(TRACE, '00f067aa0ba902b7', [
      serverSpan(`POST ${ROUTE}`, [
        callSpan(`${INTEGRATIONS}.AccessService/Authenticate`),
        callSpan(`${INTEGRATIONS}.AccessService/CheckGrants`),
        callSpan(`${DECISIONS}.DecisionsService/RecordDecision`, [
          decisionEventSpan('applicationApproved'),
        ]),
      ]),
    ]);
    const spans = spansIn(TRACE);
    expect(spans.every(({ failed }) => !failed)).toBe(true);
    const [recordDecision] = spans.filter(({ name }) => name.endsWith('/RecordDecision'));
    expect(recordDecision?.attributes).toMatchObject({
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

  test('the trace of an export reaches the call that reads its content', async () => {
    const submission = await platform.submitNewApplication();
    await platform.settle();
    const traceId = TRACE.replace('4bf9', 'cccc');
    await platform.exportApplication(submission, { traceparent: CALLER.replace(TRACE, traceId) });
    const dispatcher = [
      callSpan(`${INTEGRATIONS}.DestinationsService/FindRecipients`),
      {
        kind: 'client',
        name: 'webhook applicationExported',
        children: [
          callSpan(`${INTEGRATIONS}.DestinationsService/GetDestinations`),
          callSpan(`${APPLICATIONS}.ApplicationsService/GetExport`),
        ],
      },
    ];
    await expectTree(traceId, '00f067aa0ba902b7', [
      serverSpan('POST /v1/applications/{applicationId}/export', [
        callSpan(`${INTEGRATIONS}.AccessService/Authenticate`),
        callSpan(`${APPLICATIONS}.ApplicationsService/LocateApplication`),
        callSpan(`${INTEGRATIONS}.AccessService/CheckGrants`),
        callSpan(`${INTEGRATIONS}.DestinationsService/FindRecipients`),
        callSpan(`${APPLICATIONS}.ApplicationsService/ExportApplication`, [
          // Both decisions and the webhook dispatcher consume the topic.
          eventSpan(APPLICATIONS, dispatcher, []),
        ]),
      ]),
    ]);
  });

  test('the trace of a submission spans two topics', async () => {
    await platform.submitNewApplication();
    const spanName = 'webhook awaitingDecision';
    const { traceId } = await eventually('span', async () =>
      receiver.spans.findLast(({ name }) => name === spanName),
    );
    await expectTree(traceId, '', [
      serverSpan('POST /v1/applications/{applicationId}/submit', [
        callSpan(`${INTEGRATIONS}.AccessService/Authenticate`),
        callSpan(`${APPLICATIONS}.ApplicationsService/LocateApplication`),
        callSpan(`${INTEGRATIONS}.AccessService/CheckGrants`),
        callSpan(`${APPLICATIONS}.ApplicationsService/SubmitApplication`, [
          eventSpan(APPLICATIONS, [decisionEventSpan('awaitingDecision')], []),
        ]),
      ]),
    ]);
  });

  test('failed webhook attempts are failed spans of the same trace', async () => {
    const submission = await platform.submitNewApplication();
    await platform.settle();
    await platform.inbox.setBehaviour('fail');
    const traceId = TRACE.replace('4bf9', 'aaaa');
    const traceparent = CALLER.replace(TRACE, traceId);
    await platform.recordDecision(submission, { decision: 'DECLINED' }, { traceparent });
    const spans = await waitForSpans(traceId, 'webhook applicationDeclined', 3);
    await platform.inbox.setBehaviour('accept');
    const attempts = spans.filter(({ name }) => name === 'webhook applicationDeclined');
    expect(attempts.map(({ attributes }) => attributes['creditlane.webhook.attempt'])).toEqual([
      '1',
      '2',
      '3',
    ]);
    expect(new Set(attempts.map(({ parentSpanId }) => parentSpanId)).size).toBe(1);
    expect(attempts.every(({ failed }) => failed)).toBe(true);
  });

  test('a refused request is a trace whose span is not marked as failed', async () => {
    const submission = await platform.submitNewApplication();
    const traceId = TRACE.replace('4bf9', 'bbbb');
    const headers = { traceparent: CALLER.replace(TRACE, traceId) };
    await platform.api.post(decisionPath(submission), { decision: 'PERHAPS' }, { headers });
    const name = `POST ${ROUTE}`;
    const spans = await waitForSpans(traceId, name);
    expect(spans.find((span) => span.name === name)).toMatchObject({
      failed: false,
      attributes: { 'http.response.status_code': '400' },
    });
  });

  test('no span contains personal data, a key, a secret or a destination', async () => {
    const sent = receiver.texts.join('\n');
    const { keys, webhookSecret, inboxUrl } = platform.demo;
    const person = ['Tremblay', 'Maya', '046454286', 'Sherbrooke', 'Northern Lights', '555 0143'];
    const secrets = [...person, ...Object.values(keys), webhookSecret, new URL(inboxUrl).host];
    expect(secrets.filter((secret) => sent.includes(secret))).toEqual([]);
  });
});

/** A span and the spans that have it as their parent. */
interface SpanTree {
  kind: string;
  name: string;
  children: SpanTree[];
}

/** The names of OTLP's numeric span kinds. */
const SPAN_KINDS = ['', 'internal', 'server', 'client', 'producer', 'consumer'];

const serverSpan = (name: string, children: SpanTree[]): SpanTree => {
  return { kind: 'server', name, children };
};

/** A call between services: the caller's span, and below it the span of the called service. */
const callSpan = (name: string, children: SpanTree[] = []): SpanTree => {
  return { kind: 'client', name, children: [serverSpan(name, children)] };
};

/** The relay's span of publishing an event, and below it the span of each consumer that handles it. */
const eventSpan = (topic: string, ...consumers: SpanTree[][]): SpanTree => {
  const name = `handle ${topic}`;
  const children = consumers.map((spans) => ({ kind: 'consumer', name, children: spans }));
  return { kind: 'producer', name: `publish ${topic}`, children };
};

/** The spans of a decision's event, from the outbox to the attempt at its webhook. */
const decisionEventSpan = (webhook: string): SpanTree =>
  eventSpan(DECISIONS, [
    callSpan(`${INTEGRATIONS}.DestinationsService/FindRecipients`),
    {
      kind: 'client',
      name: `webhook ${webhook}`,
      children: [callSpan(`${INTEGRATIONS}.DestinationsService/GetDestinations`)],
    },
  ]);

/** The trees of the spans whose parent has this id; the id of the root's parent may be empty. */
function treesBelow(parentSpanId: string, spans: readonly ReceivedSpan[]): SpanTree[] {
  const children = spans.filter((span) => span.parentSpanId === parentSpanId);
  return sortByName(
    children.map(({ kind, name, spanId }) => ({
      kind: SPAN_KINDS[kind] ?? '',
      name,
      children: treesBelow(spanId, spans),
    })),
  );
}

/** The consumers of one topic have the same name, and differ in the spans below. */
const orderOf = ({ name, children }: SpanTree) => `${name} ${JSON.stringify(children)}`;

/** Spans with the same parent arrive in any order. */
function sortByName(trees: readonly SpanTree[]): SpanTree[] {
  return trees
    .map((tree) => ({ ...tree, children: sortByName(tree.children) }))
    .toSorted((a, b) => orderOf(a).localeCompare(orderOf(b)));
}

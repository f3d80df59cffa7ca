// A call has a client span, and a server span whose parent is the client span.
import type { Process } from '@creditlane/runtime/run';
import {
  type OtlpReceiver,
  type ReceivedSpan,
  startOtlpReceiver,
} from '@creditlane/runtime/telemetry/test-otlp-receiver';
import { startTracing } from '@creditlane/runtime/telemetry/tracing';
import { createTestProcess } from '@creditlane/runtime/test-process';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { notFound } from '../fault.ts';
import {
  faultOf,
  GET_DECISION,
  MOUNTS,
  startTestService,
  TEST_INTEGRATION,
} from '../test-service.ts';

const CALLER_SPAN = '00f067aa0ba902b7';
const CALLER = `00-4bf92f3577b34da6a3ce929d0e0e4736-${CALLER_SPAN}-01`;
const NAME = 'creditlane.decisions.v1.DecisionsService/GetDecision';
const CONTEXT = { identity: TEST_INTEGRATION, traceparent: CALLER };
/** The kinds of spans by their OTLP numbers. */
const [SERVER, CLIENT] = [2, 3];

let receiver: OtlpReceiver;
let testProcess: Process;
beforeEach(async () => {
  testProcess = createTestProcess('test');
  receiver = await startOtlpReceiver();
  await startTracing({ endpoint: receiver.endpoint, sampleRatio: 1 }, 'test', testProcess);
});
afterEach(() => receiver.close());

/** All spans of the calls, client spans first. */
async function collectSpans(): Promise<ReceivedSpan[]> {
  await testProcess.closers.close();
  return receiver.spans.toSorted((one, other) => other.kind - one.kind);
}

describe.each(MOUNTS)('over %s', (mount) => {
  test('the spans of a call are in the trace of its caller', async () => {
    const { decisions, handled } = await startTestService(mount);
    await decisions.getDecision(GET_DECISION, CONTEXT);
    const [client, server] = await collectSpans();
    expect(client).toMatchObject({
      kind: CLIENT,
      name: NAME,
      parentSpanId: CALLER_SPAN,
      failed: false,
      attributes: {
        'rpc.service': 'creditlane.decisions.v1.DecisionsService',
        'rpc.method': 'GetDecision',
      },
    });
    expect(server).toMatchObject({ kind: SERVER, name: NAME, parentSpanId: client?.spanId });
    expect(handled[0]?.traceparent).toContain(server?.spanId);
    expect(receiver.spans).toHaveLength(2);
  });

  test('a not_found fault fails the client span and not the server span', async () => {
    const getDecision = async () => {
      throw notFound('submission_not_found', 'no');
    };
    const { decisions } = await startTestService(mount, { getDecision });
    await faultOf(decisions.getDecision(GET_DECISION, CONTEXT));
    const [client, server] = await collectSpans();
    expect(client).toMatchObject({ failed: true, attributes: { 'error.type': 'not_found' } });
    expect(server).toMatchObject({ failed: false });
  });

  test('a call without a traceparent starts no trace', async () => {
    const { decisions } = await startTestService(mount);
    await decisions.getDecision(GET_DECISION, { identity: TEST_INTEGRATION });
    expect(await collectSpans()).toEqual([]);
  });
});

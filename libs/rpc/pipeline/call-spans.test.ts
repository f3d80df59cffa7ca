// A call is a span of its caller, and the cause of the span in which it is answered.

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
import { MOUNTS, REQUEST, refused, startTestService, TEST_INTEGRATION } from '../test-service.ts';

const CALLER_SPAN = '00f067aa0ba902b7';
const CALLER = `00-4bf92f3577b34da6a3ce929d0e0e4736-${CALLER_SPAN}-01`;
const NAME = 'creditlane.decisions.v1.DecisionsService/GetDecision';
const CONTEXT = { identity: TEST_INTEGRATION, traceparent: CALLER };
/** As OTLP numbers them. */
const [SERVER, CLIENT] = [2, 3];

let receiver: OtlpReceiver;
let life: Process;
beforeEach(async () => {
  life = createTestProcess('test');
  receiver = await startOtlpReceiver();
  await startTracing({ endpoint: receiver.endpoint, sampleRatio: 1 }, 'test', life);
});
afterEach(() => receiver.close());

/** All spans of the calls, with the caller's first. */
async function spansAfter(): Promise<ReceivedSpan[]> {
  await life.closers.close();
  return receiver.spans.toSorted((one, other) => other.kind - one.kind);
}

describe.each(MOUNTS)('over %s', (mount) => {
  test('a call goes on in the trace of its cause', async () => {
    const { decisions, handled } = await startTestService(mount);
    await decisions.getDecision(REQUEST, CONTEXT);
    const [client, server] = await spansAfter();
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

  test('a refusal is a failure of the call, and none of who refuses', async () => {
    const getDecision = async () => {
      throw notFound('submission_not_found', 'no');
    };
    const { decisions } = await startTestService(mount, { getDecision });
    await refused(decisions.getDecision(REQUEST, CONTEXT));
    const [client, server] = await spansAfter();
    expect(client).toMatchObject({ failed: true, attributes: { 'error.type': 'not_found' } });
    expect(server).toMatchObject({ failed: false });
  });

  test('without a cause it begins no trace', async () => {
    const { decisions } = await startTestService(mount);
    await decisions.getDecision(REQUEST, { identity: TEST_INTEGRATION });
    expect(await spansAfter()).toEqual([]);
  });
});

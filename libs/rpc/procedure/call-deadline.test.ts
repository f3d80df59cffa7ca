// The deadline and the cancellation of calls, on each of the three mounts.
import { DecisionsService } from '@creditlane/proto/decisions/v1/decisions_service';
import { describe, expect, test } from 'vitest';
import type { Call } from '../call.ts';
import { connect } from '../client.ts';
import { TokenSigner } from '../identity.ts';
import {
  faultOf,
  GET_DECISION,
  MOUNTS,
  startTestService,
  TEST_INTEGRATION,
  TEST_KEYS,
  type TestServiceOptions,
} from '../test-service.ts';

const context = { identity: TEST_INTEGRATION };

/** Long enough for a call to reach its handler on a busy machine. */
const TIMEOUT_MS = 2_000;
/** The caller's clock started first, so the caller may cancel before the deadline of the handler. */
const DEADLINE_OR_CANCELLED = expect.stringMatching(/^(deadline|cancelled)$/);

/** A handler that does not answer before `release`, and the events of its call. */
function createBlockedHandler() {
  const arrived = Promise.withResolvers<Call>();
  const aborted = Promise.withResolvers<unknown>();
  const released = Promise.withResolvers<object>();
  const getDecision = (_request: unknown, call: Call) => {
    call.signal.addEventListener('abort', () => aborted.resolve(call.signal.reason));
    arrived.resolve(call);
    return released.promise;
  };
  return {
    getDecision,
    arrived: arrived.promise,
    aborted: aborted.promise,
    release: released.resolve,
  };
}

/** On all mounts at once, because each takes the time of the timeout. */
test('a call that exceeds its caller’s timeout: a deadline fault, and the handler’s signal aborts', async () => {
  const exceedTimeout = async (mount: (typeof MOUNTS)[number]) => {
    const { getDecision, aborted } = createBlockedHandler();
    const { decisions } = await startTestService(mount, { getDecision, timeoutMs: TIMEOUT_MS });
    // This call opens the connection, so that the next one reaches its handler within its timeout.
    await decisions.recordDecision({ ...GET_DECISION, decision: { decision: 1 } }, context);
    const { kind } = await faultOf(decisions.getDecision(GET_DECISION, context));
    return { mount, kind, aborted: await aborted };
  };
  const aborted = expect.objectContaining({ kind: DEADLINE_OR_CANCELLED });
  expect(await Promise.all(MOUNTS.map(exceedTimeout))).toEqual(
    MOUNTS.map((mount) => ({ mount, kind: 'deadline', aborted })),
  );
});

describe.each(MOUNTS)('over %s', (mount) => {
  const open = (options?: TestServiceOptions) => startTestService(mount, options);

  test('the handler gets the caller’s deadline when it is before the timeout', async () => {
    const { getDecision, arrived, release } = createBlockedHandler();
    const { decisions } = await open({ getDecision, timeoutMs: 60_000 });
    const deadlineMs = Date.now() + 20_000;
    const call = decisions.getDecision(GET_DECISION, { ...context, deadlineMs });
    expect(Math.abs((await arrived).deadlineMs - deadlineMs)).toBeLessThan(10_000);
    release({});
    await call;
  });

  test('a call whose deadline has passed is not sent', async () => {
    const { decisions, handled } = await open();
    const call = decisions.getDecision(GET_DECISION, { ...context, deadlineMs: Date.now() - 1 });
    expect(await faultOf(call)).toMatchObject({ kind: 'deadline' });
    expect(handled).toEqual([]);
  });

  test('a cancelled call fails at once, and the handler’s signal aborts', async () => {
    const { getDecision, arrived, aborted } = createBlockedHandler();
    const { decisions } = await open({ getDecision });
    const caller = new AbortController();
    const call = decisions.getDecision(GET_DECISION, { ...context, signal: caller.signal });
    await arrived;
    caller.abort();
    expect(await faultOf(call)).toMatchObject({ kind: 'cancelled' });
    expect(await aborted).toMatchObject({ kind: 'cancelled' });
  });

  test('a handler’s call of a peer keeps the deadline and the request id', async () => {
    const { getDecision, arrived, release } = createBlockedHandler();
    const { decisions, endpoint, closers } = await open({
      // Less than the timeout of the peer's client, which would be the deadline otherwise.
      timeoutMs: 8_000,
      getDecision,
      listDecisions: async (_request, call) => {
        await peer.getDecision(GET_DECISION, { ...call, identity: TEST_INTEGRATION });
        return {};
      },
    });
    const signer = new TokenSigner({ issuer: 'gateway', privateKey: TEST_KEYS.gateway.privateKey });
    const peer = connect(DecisionsService, endpoint, { signer, audience: 'decisions', closers });
    const call = decisions.listDecisions(
      { ...GET_DECISION, limit: 1 },
      { ...context, requestId: 'r-9' },
    );
    const { deadlineMs, requestId } = await arrived;
    expect(deadlineMs).toBeLessThan(Date.now() + 8_100);
    expect(requestId).toBe('r-9');
    release({});
    await call;
  });

  test('each call is counted once, under its outcome', async () => {
    const { getDecision, arrived } = createBlockedHandler();
    const { decisions, metrics } = await open({ getDecision, maxMessageBytes: 1_000 });
    await decisions.recordDecision({ ...GET_DECISION, decision: { decision: 1 } }, context);
    const caller = new AbortController();
    const call = decisions.getDecision(GET_DECISION, { ...context, signal: caller.signal });
    await arrived;
    caller.abort();
    await faultOf(call);
    await faultOf(decisions.getDecision({}, context));
    await faultOf(decisions.listDecisions({ ...GET_DECISION, cursor: 'x'.repeat(5_000) }, context));
    await expect
      .poll(async () =>
        [...(await metrics.text()).matchAll(COUNTED)].map((it) => it.slice(1, 3)).toSorted(),
      )
      .toEqual([
        ['GetDecision', 'cancelled'],
        ['GetDecision', 'invalid'],
        // grpc-js refuses the body itself, and the procedure sees a cancelled call.
        ['ListDecisions', mount === 'grpc' ? 'cancelled' : 'resource_exhausted'],
        ['RecordDecision', 'ok'],
      ]);
  });
});

const COUNTED =
  /^creditlane_rpc_requests_total\{service="[\w.]+",method="(\w+)",code="(\w+)"\} 1$/gm;

describe.each(['http', 'grpc'] as const)('closing the %s server', (mount) => {
  test('closes idle connections at once', async () => {
    const server = await startTestService(mount, { gracePeriodMs: 60_000 });
    await server.decisions.getDecision(GET_DECISION, context);
    await server.closeServer();
  });

  test('a call under way gets its answer, and a new call fails', async () => {
    const { getDecision, arrived, release } = createBlockedHandler();
    const server = await startTestService(mount, { getDecision, gracePeriodMs: 60_000 });
    const call = server.decisions.getDecision(GET_DECISION, context);
    await arrived;
    const closed = server.closeServer();
    const late = connect(DecisionsService, server.endpoint, {
      signer: new TokenSigner({ issuer: 'gateway', privateKey: TEST_KEYS.gateway.privateKey }),
      audience: 'decisions',
      timeoutMs: 500,
      closers: server.closers,
    });
    const fault = await faultOf(late.getDecision(GET_DECISION, context));
    expect(['unavailable', 'deadline']).toContain(fault.kind);
    release({ decision: { conditions: 'in time' } });
    expect(await call).toMatchObject({ decision: { conditions: 'in time' } });
    await closed;
  });

  test('after the grace period, calls under way are cut', async () => {
    const { getDecision, arrived, aborted } = createBlockedHandler();
    const server = await startTestService(mount, { getDecision, gracePeriodMs: 100 });
    const call = faultOf(server.decisions.getDecision(GET_DECISION, context));
    await arrived;
    await server.closeServer();
    expect((await call).kind).toMatch(/unavailable|cancelled/);
    expect(await aborted).toMatchObject({ kind: 'cancelled' });
  });
});

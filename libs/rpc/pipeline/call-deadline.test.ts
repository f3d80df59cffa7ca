// The promises about a call's time and its end, held by each of the three mounts.
import { DecisionsService } from '@creditlane/proto/decisions/v1/decisions_service';
import { describe, expect, test } from 'vitest';
import type { Call } from '../call.ts';
import { connect } from '../client.ts';
import { TokenSigner } from '../identity.ts';
import {
  MOUNTS,
  REQUEST,
  refused,
  startTestService,
  TEST_INTEGRATION,
  TEST_KEYS,
  type TestServiceOptions,
} from '../test-service.ts';

const context = { identity: TEST_INTEGRATION };

/** Long enough for a call to reach its handler on a busy machine. */
const OUTLASTED_MS = 500;
/** The caller, whose clock began first, may hang up before the callee's time is over. */
const TIME_OVER = expect.stringMatching(/^(deadline|cancelled)$/);

/** A handler that holds its call until released, and what has become of the call meanwhile. */
function holding() {
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

describe.each(MOUNTS)('over %s', (mount) => {
  const open = (options?: TestServiceOptions) => startTestService(mount, options);

  test('a call that outlasts its caller’s timeout is refused, and its handler told', async () => {
    const { getDecision, aborted } = holding();
    const { decisions } = await open({ getDecision, timeoutMs: OUTLASTED_MS });
    expect(await refused(decisions.getDecision(REQUEST, context))).toMatchObject({
      kind: 'deadline',
    });
    expect(await aborted).toMatchObject({ kind: TIME_OVER });
  });

  test('a caller’s own deadline holds for the callee where it is the nearer one', async () => {
    const { getDecision, arrived, release } = holding();
    const { decisions } = await open({ getDecision, timeoutMs: 60_000 });
    const deadlineMs = Date.now() + 5_000;
    const call = decisions.getDecision(REQUEST, { ...context, deadlineMs });
    expect(Math.abs((await arrived).deadlineMs - deadlineMs)).toBeLessThan(500);
    release({});
    await call;
  });

  test('a call whose deadline has passed is not made', async () => {
    const { decisions, handled } = await open();
    const call = decisions.getDecision(REQUEST, { ...context, deadlineMs: Date.now() - 1 });
    expect(await refused(call)).toMatchObject({ kind: 'deadline' });
    expect(handled).toEqual([]);
  });

  test('a caller that gives up is answered at once, and the handler told', async () => {
    const { getDecision, arrived, aborted } = holding();
    const { decisions } = await open({ getDecision });
    const caller = new AbortController();
    const call = decisions.getDecision(REQUEST, { ...context, signal: caller.signal });
    await arrived;
    caller.abort();
    expect(await refused(call)).toMatchObject({ kind: 'cancelled' });
    expect(await aborted).toMatchObject({ kind: 'cancelled' });
  });

  test('a handler’s call, passed on, gives its peer the time that is left', async () => {
    const { getDecision, arrived, release } = holding();
    const { decisions, target, closers } = await open({
      timeoutMs: 2_000,
      getDecision,
      listDecisions: async (_request, call) => {
        await peer.getDecision(REQUEST, { ...call, identity: TEST_INTEGRATION });
        return {};
      },
    });
    const signer = new TokenSigner({ issuer: 'gateway', privateKey: TEST_KEYS.gateway.privateKey });
    const peer = connect(DecisionsService, target, { signer, audience: 'decisions', closers });
    const call = decisions.listDecisions(
      { ...REQUEST, limit: 1 },
      { ...context, requestId: 'r-9' },
    );
    const { deadlineMs, requestId } = await arrived;
    expect(deadlineMs).toBeLessThan(Date.now() + 2_100);
    expect(requestId).toBe('r-9');
    release({});
    await call;
  });

  test('each call is counted once, by its outcome', async () => {
    const { getDecision } = holding();
    const { decisions, metrics } = await open({
      getDecision,
      readMaxBytes: 1_000,
      timeoutMs: OUTLASTED_MS,
    });
    await decisions.recordDecision({ ...REQUEST, decision: { decision: 1 } }, context);
    await refused(decisions.getDecision(REQUEST, context));
    await refused(decisions.getDecision({}, context));
    await refused(decisions.listDecisions({ ...REQUEST, cursor: 'x'.repeat(5_000) }, context));
    await expect
      .poll(async () => [...(await metrics.text()).matchAll(COUNTED)].map((it) => it.slice(1, 3)))
      .toEqual([
        ['RecordDecision', 'ok'],
        ['GetDecision', TIME_OVER],
        ['GetDecision', 'invalid'],
        // grpc-js refuses such a body itself; all we see is that the call has ended.
        ['ListDecisions', mount === 'grpc' ? 'cancelled' : 'resource_exhausted'],
      ]);
  });
});

const COUNTED =
  /^creditlane_rpc_requests_total\{service="[\w.]+",method="(\w+)",code="(\w+)"\} 1$/gm;

describe.each(['http', 'grpc'] as const)('closing the %s server', (mount) => {
  test('ends its idle connections at once', async () => {
    const world = await startTestService(mount, { gracePeriodMs: 60_000 });
    await world.decisions.getDecision(REQUEST, context);
    await world.closeServer();
  });

  test('lets a call under way end, and takes no other', async () => {
    const { getDecision, arrived, release } = holding();
    const world = await startTestService(mount, { getDecision, gracePeriodMs: 60_000 });
    const call = world.decisions.getDecision(REQUEST, context);
    await arrived;
    const closed = world.closeServer();
    const late = connect(DecisionsService, world.target, {
      signer: new TokenSigner({ issuer: 'gateway', privateKey: TEST_KEYS.gateway.privateKey }),
      audience: 'decisions',
      timeoutMs: 500,
      closers: world.closers,
    });
    const refusal = await refused(late.getDecision(REQUEST, context));
    expect(['unavailable', 'deadline']).toContain(refusal.kind);
    release({ decision: { conditions: 'in time' } });
    expect(await call).toMatchObject({ decision: { conditions: 'in time' } });
    await closed;
  });

  test('cuts off after its grace the calls that do not end', async () => {
    const { getDecision, arrived, aborted } = holding();
    const world = await startTestService(mount, { getDecision, gracePeriodMs: 100 });
    const call = refused(world.decisions.getDecision(REQUEST, context));
    await arrived;
    await world.closeServer();
    expect((await call).kind).toMatch(/unavailable|cancelled/);
    expect(await aborted).toMatchObject({ kind: 'cancelled' });
  });
});

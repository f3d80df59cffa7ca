// Reads that wait for a pull, with `Prefer: wait=N`, keep nothing from other requests, and end when the gateway closes.
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { PullState, Source } from '@creditlane/proto/creditfile/v1/credit_file_service';
import type { Call } from '@creditlane/rpc/call';
import { newId } from '@creditlane/runtime/ids';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestGateway } from '../test-gateway.ts';
import { openTestSocket, requestText } from '../test-socket.ts';
import { WaitingReads } from './waiting-reads.ts';

const MAX_UNDER_WAY = 20;

const gateway = await startTestGateway({ maxUnderWay: MAX_UNDER_WAY, accessCacheMs: 4_000 });
afterAll(() => gateway.close());
const path = `/v1/applications/${gateway.ids.application}/credit-file/${gateway.ids.applicant}`;
beforeEach(() => {
  gateway.services.calls.length = 0;
  setState(PullState.RUNNING);
});

function pullIn(state: PullState) {
  const requestedAt = timestampFromDate(new Date('2026-03-02T15:04:05Z'));
  return { id: newId(), source: Source.EQUIFAX, state, requestedAt };
}

function setState(state: PullState): void {
  const pull = pullIn(state);
  const file = { id: newId(), hitType: 'HIT' };
  gateway.services.creditFiles.set(gateway.ids.applicant, { pull, file });
}

const untilAborted = ({ signal }: Call) =>
  new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

/** Lets the next reads that wait go on until the returned function is called, or their caller ends them. */
function holdBack(count: number): () => void {
  const release = Promise.withResolvers<void>();
  const gate = (call: Call) => Promise.race([release.promise, untilAborted(call)]);
  gateway.services.gates.readCreditFile.push(...Array.from({ length: count }, () => gate));
  return release.resolve;
}

const read = (wait: string, key?: string) =>
  gateway.send('GET', path, { key, headers: { Prefer: wait } });
const calls = () => gateway.services.called('readCreditFile');
const waits = () => calls().map(({ request }) => (request as { waitMs: number }).waitMs);

describe('a read that prefers to wait', () => {
  test('is answered as soon as the pull has ended, with the preference that was applied', async () => {
    const release = holdBack(1);
    const answer = read('wait=20');
    await expect.poll(() => waits()).toEqual([20_000]);
    setState(PullState.COMPLETE);
    release();
    const { headers, json } = await answer;
    expect(headers.get('preference-applied')).toBe('wait=20');
    expect(headers.get('x-credit-file-status')).toBe('COMPLETE');
    expect(json.hitType).toBe('HIT');
  });

  test('waits for 30 s at most, and the deadline of its call is later', async () => {
    const before = Date.now();
    setState(PullState.COMPLETE);
    const answer = await read('wait=600');
    expect(answer.headers.get('preference-applied')).toBe('wait=30');
    expect(waits()).toEqual([30_000]);
    const deadlineMs = calls()[0]?.call.deadlineMs ?? 0;
    expect(deadlineMs - before).toBeGreaterThan(35_000);
  });

  test('that the service ends before the pull has no preference applied', async () => {
    const answer = await read('wait=20');
    expect(waits()).toEqual([20_000]);
    expect(answer.headers.get('x-credit-file-status')).toBe('PENDING');
    expect(answer.headers.has('preference-applied')).toBe(false);
  });

  test.each(['respond-async', 'wait=0', 'wait=x'])('does not wait for %s', async (preference) => {
    const before = Date.now();
    const answer = await read(preference);
    expect(answer.headers.has('preference-applied')).toBe(false);
    expect(waits()).toEqual([0]);
    expect((calls()[0]?.call.deadlineMs ?? Infinity) - before).toBeLessThan(30_000);
  });
});

describe('reads that wait', () => {
  test('leave a caller its other requests, and other callers theirs', async () => {
    const other = gateway.services.issueGranted(gateway.ids.creditor);
    const release = holdBack(MAX_UNDER_WAY);
    // As many as half of the waiting reads, of which there are half of the requests under way.
    const most = MAX_UNDER_WAY / 4;
    const answers = Array.from({ length: most }, () => read('wait=30'));
    await expect.poll(() => waits().length).toBe(most);
    const beyond = await read('wait=30');
    expect([beyond.status, beyond.headers.has('preference-applied')]).toEqual([200, false]);
    expect(waits().at(-1)).toBe(0);
    const pulls = await gateway.send('GET', `${path}/pulls`);
    expect(pulls.status).toBe(200);
    for (const key of [gateway.key, other]) {
      expect((await gateway.send('GET', gateway.decisionPath, { key })).status).toBe(200);
    }
    release();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(most).fill(200));
  });

  test('end when their clients hang up, and count no longer', async () => {
    holdBack(1);
    const headers = ['Host: g', `Authorization: ${gateway.key}`, 'Prefer: wait=30'];
    const { socket } = await openTestSocket(gateway.port, requestText(`GET ${path}`, headers));
    await expect.poll(() => waits().length).toBe(1);
    socket.destroy();
    const underWay = /^creditlane_http_requests_under_way 0$/m;
    await expect.poll(() => gateway.process.metrics.text()).toMatch(underWay);
  });
});

test.each(['memory', 'grpc'] as const)(
  'reads that wait are answered with the present state when the gateway closes, with calls by %s',
  async (calls) => {
    const closing = await startTestGateway({}, { calls });
    const { application, applicant } = closing.ids;
    const file = `/v1/applications/${application}/credit-file/${applicant}`;
    const pull = pullIn(PullState.RUNNING);
    closing.services.creditFiles.set(applicant, { pull });
    closing.services.gates.readCreditFile.push(untilAborted, untilAborted, untilAborted);
    const headers = { Prefer: 'wait=30' };
    const answers = Array.from({ length: 3 }, () => closing.send('GET', file, { headers }));
    await expect.poll(() => closing.services.called('readCreditFile').length).toBe(3);
    const closed = closing.close();
    for (const { status, headers: its } of await Promise.all(answers)) {
      expect([status, its.get('x-credit-file-status')]).toEqual([200, 'PENDING']);
      expect(its.has('preference-applied')).toBe(false);
    }
    await closed;
  },
);

test('waiting reads of many callers are never more than their limit', async () => {
  const reads = new WaitingReads(8);
  const release = Promise.withResolvers<void>();
  const waited: string[] = [];
  const all = Array.from({ length: 10 }, (_, index) => `caller ${index}`).flatMap((caller) =>
    Array.from({ length: 4 }, () =>
      reads.run({ caller, waitMs: 1, signal: undefined }, async (waitMs) => {
        if (waitMs === 0) return;
        waited.push(caller);
        await release.promise;
      }),
    ),
  );
  // 4, 2, 1 and 1: each caller has as many as are left.
  expect(waited).toHaveLength(8);
  expect(new Set(waited).size).toBe(4);
  release.resolve();
  await Promise.all(all);
});

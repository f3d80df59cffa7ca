// Which failed calls are retried, seen by how often a transport that always fails is called.
import { randomUUID } from 'node:crypto';
import { Code, ConnectError } from '@connectrpc/connect';
import { DecisionsService } from '@creditlane/proto/decisions/v1/decisions_service';
import {
  AccessService,
  DestinationsService,
  IntegrationsService,
} from '@creditlane/proto/integrations/v1/integrations_service';
import { Closers } from '@creditlane/runtime/closers';
import { isCanonicalUuid } from '@creditlane/runtime/ids';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { describe, expect, onTestFinished, test } from 'vitest';
import { connect } from '../client.ts';
import { generateIdentityKeys } from '../credentials/identity-keys.ts';
import { conflict, toConnectError, toFault, unavailable } from '../fault.ts';
import { TokenSigner } from '../identity.ts';
import { faultOf, TEST_INTEGRATION } from '../test-service.ts';
import type { UnaryCall } from '../transport.ts';
import { RetryBudget, retrying } from './retries.ts';

type Method = Parameters<UnaryCall>[0];

const { getDecision, recordDecision } = DecisionsService.method;
const { issueKey, grantRetailer } = IntegrationsService.method;
/** The one write whose proto has no idempotency option: a repetition would give requests back twice. */
const unprotected = AccessService.method.takeRequests;
const brokenConnection = new ConnectError('Connection dropped', Code.Unavailable);

/** Makes one call over a transport that always fails, and returns what the transport was given. */
async function callFailing(
  method: Method,
  error: Error,
  {
    key,
    timeoutMs = 60_000,
    signal,
  }: { key?: string; timeoutMs?: number; signal?: AbortSignal } = {},
) {
  const timeouts: number[] = [];
  const headers: Headers[] = [];
  const fail: UnaryCall = async (_method, _signal, timeoutMs, header) => {
    timeouts.push(timeoutMs);
    headers.push(new Headers(header));
    throw error;
  };
  const observed: string[] = [];
  const observe = (outcome: string) => void observed.push(outcome);
  const unary = retrying(fail, { random: () => 0.1, observe });
  const header = key === undefined ? {} : { 'idempotency-key': key };
  const thrown = await unary(method, signal, timeoutMs, header, {}).catch((it) => it);
  return { thrown, timeouts, attempts: timeouts.length, observed, headers };
}

describe('when the connection breaks during a call', () => {
  test.each([
    { what: 'a read', method: getDecision, attempts: 4 },
    {
      what: 'a read of any service',
      method: DestinationsService.method.getDestinations,
      attempts: 4,
    },
    { what: 'an idempotent write', method: grantRetailer, attempts: 4 },
    { what: 'a write with an idempotency key', method: recordDecision, key: 'k', attempts: 4 },
    {
      what: 'a write without a key, with a generated retry token',
      method: recordDecision,
      attempts: 4,
    },
    { what: 'a write without a key, with a generated key', method: issueKey, attempts: 4 },
    { what: 'a write of an unprotected method', method: unprotected, attempts: 1 },
    {
      what: 'a write with a key of an unprotected method',
      method: unprotected,
      key: 'k',
      attempts: 1,
    },
  ])('$what is attempted $attempts times', async ({ method, key, attempts }) => {
    const outcome = await callFailing(method, brokenConnection, key === undefined ? {} : { key });
    expect(outcome).toMatchObject({ attempts, thrown: brokenConnection });
  });

  test.each([
    { method: recordDecision, name: 'call-id', other: 'idempotency-key' },
    { method: issueKey, name: 'idempotency-key', other: 'call-id' },
  ])(
    'all attempts of one $method.name without a key share its $name, and no other call has it',
    async ({ method, name, other }) => {
      const calls = [
        await callFailing(method, brokenConnection),
        await callFailing(method, brokenConnection),
      ];
      const names = calls.map(({ headers }) => new Set(headers.map((header) => header.get(name))));
      expect(names.map(({ size }) => size)).toEqual([1, 1]);
      for (const id of names.flatMap((it) => [...it])) expect(isCanonicalUuid(id ?? '')).toBe(true);
      expect(names[0]).not.toEqual(names[1]);
      const others = calls.flatMap(({ headers }) => headers.map((header) => header.has(other)));
      expect(others).not.toContain(true);
    },
  );

  test('a call with the caller’s key gets no other retry token', async () => {
    const { headers } = await callFailing(recordDecision, brokenConnection, { key: 'k' });
    expect(headers.map((header) => [...header])).toEqual(Array(4).fill([['idempotency-key', 'k']]));
  });

  test('each attempt gets the remaining time', async () => {
    const { timeouts } = await callFailing(getDecision, brokenConnection, { timeoutMs: 50_000 });
    expect(timeouts).toHaveLength(4);
    expect(timeouts.every((it, at) => it <= (timeouts[at - 1] ?? 50_000))).toBe(true);
  });

  test('no attempt starts after the deadline', async () => {
    expect(await callFailing(getDecision, brokenConnection, { timeoutMs: 2 })).toMatchObject({
      attempts: 1,
    });
  });

  test('a call cancelled between two attempts: a cancelled fault', async () => {
    const signal = AbortSignal.abort();
    const { thrown, attempts } = await callFailing(getDecision, brokenConnection, { signal });
    expect(thrown).toMatchObject({ kind: 'cancelled' });
    expect(attempts).toBe(1);
  });
});

test('a call that the peer refused unprocessed is retried, even of an unprotected method', async () => {
  const unprocessed = new ConnectError('Stream refused by server', Code.Unavailable);
  expect(await callFailing(unprotected, unprocessed)).toMatchObject({ attempts: 10 });
});

test('the observer is called for each retry, and for no call that is not retried', async () => {
  const again = ['sent_again', 'sent_again', 'sent_again'];
  expect(await callFailing(getDecision, brokenConnection)).toMatchObject({
    attempts: 4,
    observed: again,
  });
  expect(await callFailing(unprotected, brokenConnection)).toMatchObject({
    attempts: 1,
    observed: [],
  });
});

test('a client counts its retries by peer', async () => {
  const metrics = new Metrics();
  const signer = new TokenSigner({ issuer: 'gateway', ...generateIdentityKeys() });
  const closers = new Closers();
  onTestFinished(() => closers.close());
  const unreachable = { kind: 'grpc', address: '127.0.0.1:1' } as const;
  const options = { signer, audience: 'decisions', timeoutMs: 50_000, closers, metrics };
  const client = connect(DecisionsService, unreachable, options);
  const ids = { applicationId: randomUUID(), creditorId: randomUUID() };
  await faultOf(client.getDecision(ids, { identity: TEST_INTEGRATION }));
  const counted = 'creditlane_rpc_client_retries_total{peer="decisions",outcome=';
  const text = await metrics.text();
  expect(text).toContain(`${counted}"sent_again"} 3`);
  expect(text).toContain(`${counted}"out_of_budget"} 0`);
});

test('an error that the service itself answered is not retried', async () => {
  const busy = toConnectError(unavailable('the database is unavailable'));
  expect(await callFailing(getDecision, busy)).toMatchObject({ attempts: 1, thrown: busy });
  const internal = new ConnectError('internal error', Code.Internal);
  expect(await callFailing(getDecision, internal)).toMatchObject({ attempts: 1 });
});

describe('a caller without a key never sees the generated key', () => {
  const inProgress = toConnectError(conflict('idempotency_in_progress', 'still under way'));

  test('when the first attempt is still processed: the record is busy', async () => {
    const { thrown } = await callFailing(issueKey, inProgress);
    expect(toFault(thrown)).toMatchObject({ kind: 'unavailable', retryAfterS: 1 });
    expect(await callFailing(issueKey, inProgress, { key: 'k' })).toMatchObject({
      thrown: inProgress,
    });
  });

  test.each([
    { key: undefined, replayed: null },
    { key: 'k', replayed: 'true' },
  ])(
    'with the key $key, a stored answer has the replayed header $replayed',
    async ({ key, replayed }) => {
      const answer = { header: new Headers({ 'idempotent-replayed': 'true' }) };
      const unary = retrying((async () => answer) as never);
      const header = key === undefined ? {} : { 'idempotency-key': key };
      const { header: given } = await unary(issueKey, undefined, 1_000, header, {});
      expect(given.get('idempotent-replayed')).toBe(replayed);
    },
  );
});

test('the budget allows a burst of retries, then one for every ten answers', () => {
  const budget = new RetryBudget();
  let burst = 0;
  while (budget.take()) burst += 1;
  expect(burst).toBe(500);
  for (let answers = 0; answers < 25; answers += 1) budget.recordAnswer();
  expect([budget.take(), budget.take(), budget.take()]).toEqual([true, true, false]);
});

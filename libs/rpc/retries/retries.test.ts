// Which failed calls are sent again, judged by how often a transport that fails is asked.
import { randomUUID } from 'node:crypto';
import { Code, ConnectError } from '@connectrpc/connect';
import { DecisionsService } from '@creditlane/proto/decisions/v1/decisions_service';
import {
  DestinationsService,
  IntegrationsService,
} from '@creditlane/proto/integrations/v1/integrations_service';
import { Closers } from '@creditlane/runtime/closers';
import { isCanonicalUuid } from '@creditlane/runtime/ids';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { describe, expect, onTestFinished, test } from 'vitest';
import { connect } from '../client.ts';
import { conflict, toConnectError, toFault, unavailable } from '../fault.ts';
import { generateIdentityKeys, TokenSigner } from '../identity.ts';
import { refused, TEST_INTEGRATION } from '../test-service.ts';
import { type UnaryCall, unaryTransport } from '../unary-transport.ts';
import { RetryBudget, retrying } from './retries.ts';

type Method = Parameters<UnaryCall>[0];

const { getDecision, recordDecision } = DecisionsService.method;
const { issueKey, grantRetailer } = IntegrationsService.method;
/** A write as it would be without an option in its proto; every one there is heeds its key. */
const heedless: Method = { ...issueKey, proto: { ...issueKey.proto, options: undefined } };
const away = new ConnectError('Connection dropped', Code.Unavailable);

/** Makes one call over a transport that always fails, and tells how it was asked. */
async function fail(
  method: Method,
  error: Error,
  { key, timeoutMs, signal }: { key?: string; timeoutMs?: number; signal?: AbortSignal } = {},
) {
  const timeouts: (number | undefined)[] = [];
  const headers: Headers[] = [];
  const unary: UnaryCall = async (_method, _signal, timeoutMs, header) => {
    timeouts.push(timeoutMs);
    headers.push(new Headers(header));
    throw error;
  };
  const observed: string[] = [];
  const observe = (outcome: string) => void observed.push(outcome);
  const transport = retrying(unaryTransport(unary), () => 0.1, observe);
  const header = key === undefined ? {} : { 'idempotency-key': key };
  const thrown = await transport.unary(method, signal, timeoutMs, header, {}).catch((it) => it);
  return { thrown, timeouts, attempts: timeouts.length, observed, headers };
}

describe('when a peer goes away under a call', () => {
  test.each([
    { what: 'a read', method: getDecision, attempts: 4 },
    {
      what: 'a read of any service',
      method: DestinationsService.method.getDestinations,
      attempts: 4,
    },
    { what: 'a write that may happen twice', method: grantRetailer, attempts: 4 },
    { what: 'a write under a key it honours', method: recordDecision, key: 'k', attempts: 4 },
    { what: 'a write without a key, named by an id', method: recordDecision, attempts: 4 },
    { what: 'a write without a key, named by one that is drawn', method: issueKey, attempts: 4 },
    { what: 'a write that heeds no name', method: heedless, attempts: 1 },
    { what: 'a write that heeds no key', method: heedless, key: 'k', attempts: 1 },
  ])('$what is made $attempts times', async ({ method, key, attempts }) => {
    const outcome = await fail(method, away, key === undefined ? {} : { key });
    expect(outcome).toMatchObject({ attempts, thrown: away });
  });

  test.each([
    { method: recordDecision, name: 'call-id', other: 'idempotency-key' },
    { method: issueKey, name: 'idempotency-key', other: 'call-id' },
  ])(
    'all attempts at one $method.name without a key share its $name, and no other call has it',
    async ({ method, name, other }) => {
      const calls = [await fail(method, away), await fail(method, away)];
      const names = calls.map(({ headers }) => new Set(headers.map((header) => header.get(name))));
      expect(names.map(({ size }) => size)).toEqual([1, 1]);
      for (const id of names.flatMap((it) => [...it])) expect(isCanonicalUuid(id ?? '')).toBe(true);
      expect(names[0]).not.toEqual(names[1]);
      const others = calls.flatMap(({ headers }) => headers.map((header) => header.has(other)));
      expect(others).not.toContain(true);
    },
  );

  test('a key that the caller gave is the only name of its call', async () => {
    const { headers } = await fail(recordDecision, away, { key: 'k' });
    expect(headers.map((header) => [...header])).toEqual(Array(4).fill([['idempotency-key', 'k']]));
  });

  test('each attempt gets the time that is left', async () => {
    const { timeouts } = await fail(getDecision, away, { timeoutMs: 5_000 });
    expect(timeouts).toHaveLength(4);
    expect(timeouts.every((it, at) => it !== undefined && it <= (timeouts[at - 1] ?? 5_000))).toBe(
      true,
    );
  });

  test('no attempt is made past the deadline', async () => {
    expect(await fail(getDecision, away, { timeoutMs: 2 })).toMatchObject({ attempts: 1 });
  });

  test('a caller that gives up between attempts is told so', async () => {
    const signal = AbortSignal.abort();
    const { thrown, attempts } = await fail(getDecision, away, { signal });
    expect(thrown).toMatchObject({ kind: 'cancelled' });
    expect(attempts).toBe(1);
  });
});

test('a call that the peer refused unseen is made again, whatever it does', async () => {
  const unseen = new ConnectError('Stream refused by server', Code.Unavailable);
  expect(await fail(heedless, unseen)).toMatchObject({ attempts: 10 });
});

test('whoever observes hears of each attempt after the first, and of no other call', async () => {
  const again = ['sent_again', 'sent_again', 'sent_again'];
  expect(await fail(getDecision, away)).toMatchObject({ attempts: 4, observed: again });
  expect(await fail(heedless, away)).toMatchObject({ attempts: 1, observed: [] });
});

test('a client counts what it sends again, by the peer that was away', async () => {
  const metrics = new Metrics();
  const signer = new TokenSigner({ issuer: 'gateway', ...generateIdentityKeys() });
  const closers = new Closers();
  onTestFinished(() => closers.close());
  const nobody = { kind: 'grpc', address: '127.0.0.1:1' } as const;
  const options = { signer, audience: 'decisions', timeoutMs: 5_000, closers, metrics };
  const client = connect(DecisionsService, nobody, options);
  const ids = { applicationId: randomUUID(), creditorId: randomUUID() };
  await refused(client.getDecision(ids, { identity: TEST_INTEGRATION }));
  const counted = 'creditlane_rpc_client_retries_total{peer="decisions",outcome=';
  const text = await metrics.text();
  expect(text).toContain(`${counted}"sent_again"} 3`);
  expect(text).toContain(`${counted}"out_of_budget"} 0`);
});

test('what the service itself answers is not asked for twice', async () => {
  const busy = toConnectError(unavailable('the database is away'));
  expect(await fail(getDecision, busy)).toMatchObject({ attempts: 1, thrown: busy });
  const internal = new ConnectError('internal error', Code.Internal);
  expect(await fail(getDecision, internal)).toMatchObject({ attempts: 1 });
});

describe('a caller that gave no key hears of none', () => {
  const inProgress = toConnectError(conflict('idempotency_in_progress', 'still under way'));

  test('when its own first attempt is still under way: the record is busy', async () => {
    const { thrown } = await fail(issueKey, inProgress);
    expect(toFault(thrown)).toMatchObject({ kind: 'unavailable', retryAfterS: 1 });
    expect(await fail(issueKey, inProgress, { key: 'k' })).toMatchObject({ thrown: inProgress });
  });

  test.each([
    { key: undefined, replayed: null },
    { key: 'k', replayed: 'true' },
  ])('with the key $key an answer given before says $replayed of it', async ({ key, replayed }) => {
    const answer = { header: new Headers({ 'idempotent-replayed': 'true' }) };
    const transport = retrying(unaryTransport((async () => answer) as never));
    const header = key === undefined ? {} : { 'idempotency-key': key };
    const { header: given } = await transport.unary(issueKey, undefined, 1_000, header, {});
    expect(given.get('idempotent-replayed')).toBe(replayed);
  });
});

test('a budget bounds the retries: a burst, then one for every ten answers', () => {
  const budget = new RetryBudget();
  let burst = 0;
  while (budget.take()) burst += 1;
  expect(burst).toBe(500);
  for (let answers = 0; answers < 25; answers += 1) budget.answered();
  expect([budget.take(), budget.take(), budget.take()]).toEqual([true, true, false]);
});

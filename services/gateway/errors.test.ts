import { connect } from 'node:net';
import { cancelled, conflict, Fault, internal, invalid, unavailable } from '@creditlane/rpc/fault';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { startTestGateway } from './test-gateway.ts';

const gateway = await startTestGateway();
const { decision, postDecision } = gateway;
afterAll(gateway.close);
afterEach(() => gateway.services.failures.clear());

describe('a request that is not HTTP', () => {
  test('gets the body that all errors have', async () => {
    const text = await new Promise<string>((resolve, reject) => {
      let received = '';
      const socket = connect(gateway.port, '127.0.0.1', () => socket.write('HELLO\r\n\r\n'));
      socket.on('data', (chunk) => {
        received += chunk;
      });
      socket.on('end', () => resolve(received));
      socket.on('error', reject);
    });
    expect(text).toMatch(/^HTTP\/1\.1 400 Bad Request/);
    expect(JSON.parse(text.split('\r\n\r\n')[1] ?? '')).toMatchObject({
      code: 'malformed_request',
    });
  });
});

describe('errors of the services', () => {
  test.each([
    [
      'not_found on an operation without 404',
      () => new Fault('not_found', 'x_not_found', 'no x'),
      400,
      'x_not_found',
    ],
    [
      'a conflict',
      () => conflict('idempotency_in_progress', 'still running'),
      409,
      'idempotency_in_progress',
    ],
    [
      'a reused key',
      () => invalid('idempotency_key_reused', 'other body'),
      422,
      'idempotency_key_reused',
    ],
    ['an absent peer', () => unavailable('away', 7), 503, 'unavailable'],
    [
      'a passed deadline',
      () => new Fault('deadline', 'deadline_exceeded', 'late'),
      503,
      'deadline_exceeded',
    ],
    // The client is still connected, and whether its request took effect is unknown.
    ['a service that saw its caller hang up', () => cancelled(), 503, 'cancelled'],
    ['a bug', () => internal(new Error('secret detail')), 500, 'internal_error'],
    [
      'a refusal of our own token',
      () => new Fault('unauthenticated', 'token_expired', 'old'),
      500,
      'internal_error',
    ],
    [
      'a call that is not ours to make',
      () => new Fault('forbidden', 'caller_not_allowed', 'no'),
      500,
      'internal_error',
    ],
    [
      'a method that is not served',
      () => new Fault('unimplemented', 'unimplemented', 'no'),
      500,
      'internal_error',
    ],
  ])('%s', async (_, failure, status, code) => {
    gateway.services.failures.set('recordDecision', failure);
    const answer = await postDecision(decision());
    expect(answer.status).toBe(status);
    expect(answer.json).toMatchObject({ status, code });
    expect(answer.headers.get('retry-after')).toBe(
      status === 503 ? (code === 'unavailable' ? '7' : '1') : null,
    );
    expect(answer.text).not.toContain('secret');
  });

  test('a refused field is named by its place in the client’s request', async () => {
    const fields = [{ pointer: '/decision/term', message: 'must not be negative' }];
    gateway.services.failures.set('recordDecision', () => invalid('invalid_decision', 'x', fields));
    const answer = await postDecision(decision());
    expect(answer.json).toMatchObject({
      status: 400,
      message: '/term must not be negative',
      code: 'invalid_decision',
      errors: [{ pointer: '/term', message: 'must not be negative' }],
    });
  });

  test('come as problem details when asked for', async () => {
    const answer = await postDecision(
      { ...decision(), term: 'x' },
      { accept: 'application/problem+json' },
    );
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(answer.json).toEqual({
      type: 'about:blank',
      title: 'Bad Request',
      status: 400,
      detail: '/term must be a whole number',
      code: 'invalid_request',
      requestId: answer.headers.get('x-request-id'),
      errors: [{ pointer: '/term', message: 'must be a whole number' }],
    });
  });
});

describe('the form of an error', () => {
  const problem = 'application/problem+json';
  test.each([
    [problem, problem],
    [`${problem}, application/json;q=0.9`, problem],
    [`application/*;q=0.5, ${problem.toUpperCase()}`, problem],
    [`application/json, ${problem};q=0.5`, 'application/json; charset=utf-8'],
    [`${problem};q=0`, 'application/json; charset=utf-8'],
    [`*/*, ${problem};q=0`, 'application/json; charset=utf-8'],
    ['*/*', 'application/json; charset=utf-8'],
    ['text/html', 'application/json; charset=utf-8'],
    [`text/x-${problem}-not`, 'application/json; charset=utf-8'],
  ])('for Accept: %s is %s', async (accept, expected) => {
    const answer = await gateway.send('GET', '/v1/nothing', { headers: { accept } });
    expect(answer.status).toBe(404);
    expect(answer.headers.get('content-type')).toBe(expected);
  });

  test('for an Accept of 15 KB that is slow to read is plain JSON', async () => {
    const accept = `${problem};x="${';'.repeat(15_000)}"`;
    const answer = await gateway.send('GET', '/v1/nothing', { headers: { accept } });
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });
});

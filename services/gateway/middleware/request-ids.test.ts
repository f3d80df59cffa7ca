import { afterAll, describe, expect, test } from 'vitest';
import { startTestGateway } from '../test-gateway.ts';

const VISIBLE_ASCII = String.fromCharCode(
  ...Array.from({ length: 94 }, (_, index) => 0x21 + index),
);

const gateway = await startTestGateway();
const { decision, postDecision } = gateway;
afterAll(gateway.close);

describe('request ids', () => {
  test('are echoed and passed on, with the trace', async () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const answer = await postDecision(decision(), { 'X-Request-Id': 'order-7781', traceparent });
    expect(answer.headers.get('x-request-id')).toBe('order-7781');
    const { call } = gateway.services.called('recordDecision').at(-1) ?? {};
    expect(call).toMatchObject({ requestId: 'order-7781', traceparent });
  });

  test.each([
    { what: '129 characters', id: 'x'.repeat(129) },
    { what: '200 characters', id: 'x'.repeat(200) },
    { what: 'every visible ASCII character', id: VISIBLE_ASCII },
  ])('of $what are the same in the answer and in the services', async ({ id }) => {
    const answer = await postDecision(decision(), { 'X-Request-Id': id });
    expect(answer.headers.get('x-request-id')).toBe(id);
    const { call } = gateway.services.called('recordDecision').at(-1) ?? {};
    expect(call?.requestId).toBe(id);
  });

  test.each([['two words'], ['x'.repeat(201)]])('%s is replaced', async (id) => {
    const answer = await postDecision(decision(), { 'X-Request-Id': id });
    expect(answer.headers.get('x-request-id')).toMatch(/^[\da-f-]{36}$/);
  });
});

import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import type { Call } from '@creditlane/rpc/call';
import { afterAll, describe, expect, test } from 'vitest';
import { startTestGateway } from './test-gateway.ts';

const gateway = await startTestGateway();
afterAll(gateway.close);

describe('a client that hangs up', () => {
  test('with half its body sent is logged with 499, and no service is called', async () => {
    gateway.lines.length = 0;
    gateway.services.calls.length = 0;
    const sending = httpRequest(gateway.url + gateway.decisionPath, {
      method: 'POST',
      headers: {
        authorization: gateway.key,
        'content-type': 'application/json',
        'content-length': '100',
        expect: '100-continue',
      },
    });
    sending.on('error', () => {});
    sending.on('continue', () => sending.write('{', () => sending.destroy()));
    sending.flushHeaders();
    await expect.poll(() => gateway.lines.join('')).toContain('"code":"cancelled"');
    expect(JSON.parse(gateway.lines.at(-1) ?? '')).toMatchObject({ status: 499, level: 'info' });
    expect(gateway.services.called('recordDecision')).toEqual([]);
  });
});

describe.each(['memory', 'grpc'] as const)('with calls over %s', (calls) => {
  test('a client that hangs up cancels the call made for it, and is logged with 499', async () => {
    const own = await startTestGateway({}, { calls });
    const arrived = Promise.withResolvers<Call>();
    const aborted = Promise.withResolvers<void>();
    own.services.gates.getDecision.push(async (call) => {
      call.signal.addEventListener('abort', () => aborted.resolve());
      arrived.resolve(call);
      await aborted.promise;
    });
    try {
      const socket = connect(own.port, '127.0.0.1');
      socket.write(
        `GET ${own.decisionPath} HTTP/1.1\r\nHost: gateway\r\nAuthorization: ${own.key}\r\n\r\n`,
      );
      expect((await arrived.promise).signal.aborted).toBe(false);
      socket.destroy();
      await aborted.promise;
      await expect.poll(() => own.lines.join('')).toContain('"code":"cancelled"');
      expect(JSON.parse(own.lines.at(-1) ?? '')).toMatchObject({ status: 499, level: 'info' });
    } finally {
      aborted.resolve();
      await own.close();
    }
  });

  test('a client that waits for its answer is answered, and nothing is cancelled', async () => {
    const own = await startTestGateway({}, { calls });
    try {
      expect((await own.send('GET', own.decisionPath)).status).toBe(200);
      expect(own.services.called('getDecision')[0]?.call.signal.aborted).toBe(false);
    } finally {
      await own.close();
    }
  });
});

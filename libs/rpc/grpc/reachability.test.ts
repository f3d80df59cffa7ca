// What a process's health says of the services that it calls.

import { DecisionsService } from '@creditlane/proto/decisions/v1/decisions_service';
import { createTestProcess } from '@creditlane/runtime/test-process';
import { startTcpProxy } from '@creditlane/runtime/test-tcp-proxy';
import { expect, onTestFinished, test } from 'vitest';
import { connect } from '../client.ts';
import { generateIdentityKeys, TokenSigner } from '../identity.ts';
import { startTestReplica } from './test-replica.ts';

function healthOfCaller(port: number) {
  const { closers, health } = createTestProcess('gateway');
  onTestFinished(() => closers.close());
  const signer = new TokenSigner({
    issuer: 'gateway',
    privateKey: generateIdentityKeys().privateKey,
  });
  const target = { kind: 'grpc', address: `127.0.0.1:${port}` } as const;
  connect(DecisionsService, target, { signer, audience: 'decisions', closers, health });
  return () => health.ready().checks.decisions;
}

test('a process is not ready until its peer has come, and without any call made', async () => {
  const { port, close } = await startTestReplica();
  await close();
  const decisions = healthOfCaller(port);
  expect(decisions()).toBe('out of reach');
  await startTestReplica({ port });
  await expect.poll(decisions, { timeout: 10_000 }).toBe('ok');
});

test('a process is not ready while its peer is gone, and no longer', async () => {
  const replica = await startTestReplica();
  const proxy = await startTcpProxy(replica.port);
  const decisions = healthOfCaller(proxy.port);
  await expect.poll(decisions).toBe('ok');
  proxy.disconnect();
  await expect.poll(decisions, { timeout: 10_000 }).toBe('out of reach');
  await startTestReplica({ port: proxy.port });
  await expect.poll(decisions, { timeout: 10_000 }).toBe('ok');
});

test('a connection that is renewed at its age leaves the process ready', async () => {
  const { port } = await startTestReplica({ maxConnectionAgeMs: 50 });
  const decisions = healthOfCaller(port);
  await expect.poll(decisions).toBe('ok');
  const seen = new Set<string | undefined>();
  const untilMs = Date.now() + 500;
  const look = () => {
    seen.add(decisions());
    return Date.now() > untilMs;
  };
  await expect.poll(look, { interval: 5 }).toBe(true);
  expect([...seen]).toEqual(['ok']);
});

// What the health of a process says about the services that it calls.
import { DecisionsService } from '@creditlane/proto/decisions/v1/decisions_service';
import { createTestProcess } from '@creditlane/runtime/test-process';
import { startTcpProxy } from '@creditlane/runtime/test-tcp-proxy';
import { findFreePorts } from '@creditlane/supervision/free-ports';
import { expect, onTestFinished, test } from 'vitest';
import { connect } from '../client.ts';
import { generateIdentityKeys } from '../credentials/identity-keys.ts';
import { TokenSigner } from '../identity.ts';
import { startTestReplica } from './test-replica.ts';

function healthOfCaller(port: number) {
  const { closers, health } = createTestProcess('gateway');
  onTestFinished(() => closers.close());
  const signer = new TokenSigner({
    issuer: 'gateway',
    privateKey: generateIdentityKeys().privateKey,
  });
  const endpoint = { kind: 'grpc', address: `127.0.0.1:${port}` } as const;
  connect(DecisionsService, endpoint, { signer, audience: 'decisions', closers, health });
  return () => health.ready().checks.decisions;
}

test('a process is not ready until its peer listens, and it connects without a call', async () => {
  const [port = 0] = await findFreePorts(1);
  const decisions = healthOfCaller(port);
  expect(decisions()).toBe('out of reach');
  await startTestReplica({ port });
  await expect.poll(decisions).toBe('ok');
});

test('a process is not ready while its peer is unreachable, and ready again afterwards', async () => {
  const replica = await startTestReplica();
  const [port = 0] = await findFreePorts(1);
  const proxy = await startTcpProxy(replica.port, { port });
  const decisions = healthOfCaller(proxy.port);
  await expect.poll(decisions).toBe('ok');
  proxy.disconnect();
  await expect.poll(decisions).toBe('out of reach');
  await startTestReplica({ port });
  await expect.poll(decisions).toBe('ok');
});

test('a process stays ready while a connection is renewed at its maximum age', async () => {
  const { port } = await startTestReplica({ maxConnectionAgeMs: 50 });
  const decisions = healthOfCaller(port);
  await expect.poll(decisions).toBe('ok');
  const seen = new Set<string | undefined>();
  const untilMs = Date.now() + 500;
  const isOver = () => {
    seen.add(decisions());
    return Date.now() > untilMs;
  };
  await expect.poll(isOver, { interval: 5 }).toBe(true);
  expect([...seen]).toEqual(['ok']);
});

// A key that is revoked while a body that it sends is on the way.
import { setTimeout as delay } from 'node:timers/promises';
import { digestApiKey } from '@creditlane/crypto/api-key';
import { Caller } from '@creditlane/proto/common/v1/access';
import { newId } from '@creditlane/runtime/ids';
import { afterAll, expect, test } from 'vitest';
import { startTestGateway } from '../test-gateway.ts';
import { openTestSocket, requestText } from '../test-socket.ts';

const CACHE_MS = 200;
/** Longer than the cache holds a key, and than a body takes that comes at once. */
const SLOW_BODY_MS = 400;

const gateway = await startTestGateway({ accessCacheMs: CACHE_MS });
afterAll(() => gateway.close());

/** Sends the head and one byte of the body, calls `change`, and sends the rest later. */
async function sendSlowly(line: string, key: string, body: object, change: () => void) {
  const text = JSON.stringify(body);
  const headers = ['Host: gateway', 'Connection: close', `Authorization: ${key}`];
  const ofBody = ['Content-Type: application/json', `Content-Length: ${text.length}`];
  const head = requestText(line, [...headers, ...ofBody], text.slice(0, 1));
  const lookups = gateway.services.called('authenticate').length;
  const { socket, closed } = await openTestSocket(gateway.port, head);
  await expect.poll(() => gateway.services.called('authenticate').length).toBe(lookups + 1);
  change();
  await delay(SLOW_BODY_MS);
  socket.write(text.slice(1));
  return closed;
}

const decision = { applicationId: gateway.ids.application, decision: 'BOOKED' };

test('a key revoked while its body is on the way does not write', async () => {
  const key = gateway.services.issue(Caller.INTEGRATION, gateway.ids.integration);
  const answer = await sendSlowly(`POST ${gateway.decisionPath}`, key, decision, () => {
    gateway.services.keys.delete(digestApiKey(key).toString('hex'));
  });
  expect(answer).toMatch(/^HTTP\/1\.1 401 /);
  expect(gateway.services.called('recordDecision')).toHaveLength(0);
});

test('a permission withdrawn while the body is on the way does not write', async () => {
  const id = newId();
  const key = gateway.services.issue(Caller.PLATFORM, id, ['MANAGE_DIRECTORY']);
  const line = `PUT /v1/platform/creditors/${newId()}`;
  const answer = await sendSlowly(line, key, { name: 'First Prairie Finance' }, () => {
    const digest = digestApiKey(key).toString('hex');
    gateway.services.keys.set(digest, { id, caller: Caller.PLATFORM, permissions: [] });
  });
  expect(answer).toMatch(/^HTTP\/1\.1 403 /);
  expect(gateway.services.called('registerCreditor')).toHaveLength(0);
});

test('a key that stays valid writes, however slowly its body comes', async () => {
  const key = gateway.services.issue(Caller.INTEGRATION, gateway.ids.integration);
  const answer = await sendSlowly(`POST ${gateway.decisionPath}`, key, decision, () => {});
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  expect(gateway.services.called('recordDecision')).toHaveLength(1);
});

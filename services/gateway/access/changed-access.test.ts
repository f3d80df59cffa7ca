// Access that an operation changes, at the server that has served the operation: no cache hides the change.
import { digestApiKey } from '@creditlane/crypto/api-key';
import { Caller } from '@creditlane/proto/common/v1/access';
import { conflict, unavailable } from '@creditlane/rpc/fault';
import { newId } from '@creditlane/runtime/ids';
import { afterAll, expect, test } from 'vitest';
import { startTestGateway } from '../test-gateway.ts';

// Nothing in the cache expires during these tests, also on a busy machine.
const gateway = await startTestGateway({ accessCacheMs: 60_000 });
afterAll(() => gateway.close());

const { services, ids } = gateway;
const grant = `${ids.integration} ${ids.creditor}`;
const integrationPath = `/v1/platform/integrations/${ids.integration}`;
const asPlatform = { key: gateway.platformKey };

/** The services' part of the operation is done by the test. */
async function change(path: string, body: object | undefined, effect: () => void, method = 'POST') {
  effect();
  const isPlatform = path.includes('/platform/');
  const answer = await gateway.send(method, path, { body, ...(isPlatform && asPlatform) });
  expect(answer.status).toBeLessThan(300);
}

async function expectDecision(status: number) {
  expect((await gateway.postDecision()).status).toBe(status);
}

test('disabling, requesting and enabling the integration for a creditor take effect with the answer', async () => {
  const { creditor: creditorId } = ids;
  services.disabledGrants.add(grant);
  await expectDecision(200);
  await change('/v1/creditors/disable-integration', { creditorId }, () => {
    services.grants.delete(grant);
  });
  await expectDecision(400);
  const requested = { creditorId, status: 'REQUESTED' };
  await change('/v1/creditors/integration-status', requested, () => services.grants.add(grant));
  await expectDecision(200);
  services.grants.delete(grant);
  await change('/v1/creditors/enable-integration', { creditorId }, () => undefined);
  await expectDecision(400);
  services.grants.add(grant);
  services.disabledGrants.clear();
  await change('/v1/creditors/enable-integration', { creditorId }, () => undefined);
  await expectDecision(200);
});

test('a grant on a creditor that is withdrawn and given again takes effect with the answer', async () => {
  const path = `${integrationPath}/creditors/${ids.creditor}`;
  await expectDecision(200);
  await change(path, undefined, () => services.grants.delete(grant), 'DELETE');
  await expectDecision(400);
  await change(path, undefined, () => services.grants.add(grant), 'PUT');
  await expectDecision(200);
});

test('a key that is revoked opens nothing after the answer', async () => {
  const key = services.issue(Caller.INTEGRATION, ids.integration);
  const read = () => gateway.send('GET', gateway.decisionPath, { key });
  expect((await read()).status).toBe(200);
  const revoke = () => services.keys.delete(digestApiKey(key).toString('hex'));
  await change(`${integrationPath}/keys/${newId()}`, undefined, revoke, 'DELETE');
  expect((await read()).status).toBe(401);
});

test('permissions that are set anew take effect with the answer', async () => {
  const key = services.issue(Caller.PLATFORM, ids.integration, ['MANAGE_DIRECTORY']);
  const register = () =>
    gateway.send('PUT', `/v1/platform/creditors/${newId()}`, { key, body: { name: 'First' } });
  expect((await register()).status).toBe(204);
  const body = { name: 'Maple Lending Bridge', permissions: [] };
  const withdraw = () => {
    const owner = { id: ids.integration, caller: Caller.PLATFORM, permissions: [] };
    services.keys.set(digestApiKey(key).toString('hex'), owner);
  };
  await change(integrationPath, body, withdraw, 'PUT');
  expect((await register()).status).toBe(403);
});

test('a request that is refused invalidates nothing', async () => {
  await expectDecision(200);
  const lookups = services.called('checkGrants').length;
  services.failures.set('enableIntegration', () => conflict('integration_not_requested', 'none'));
  const body = { creditorId: ids.creditor };
  expect((await gateway.send('POST', '/v1/creditors/enable-integration', { body })).status).toBe(
    409,
  );
  services.failures.clear();
  await expectDecision(200);
  // That of the operation itself, which is open while the integration is disabled.
  expect(services.called('checkGrants').length).toBeLessThanOrEqual(lookups + 1);
});

test('a change whose answer is lost takes effect all the same', async () => {
  const path = `${integrationPath}/creditors/${ids.creditor}`;
  await expectDecision(200);
  services.grants.delete(grant);
  services.failures.set('grantCreditor', () => unavailable('lost'));
  expect((await gateway.send('DELETE', path, asPlatform)).status).toBe(503);
  services.failures.clear();
  await expectDecision(400);
  services.grants.add(grant);
});

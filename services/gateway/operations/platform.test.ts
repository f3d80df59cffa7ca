import { Caller } from '@creditlane/proto/common/v1/access';
import { Permission } from '@creditlane/proto/integrations/v1/integrations_service';
import { newId } from '@creditlane/runtime/ids';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { openApiDocument } from '../document/openapi-document.ts';
import { startTestGateway } from '../test-gateway.ts';

const gateway = await startTestGateway();
afterAll(gateway.close);

const send = (method: string, path: string, body?: object, headers?: Record<string, string>) =>
  gateway.send(method, `/v1/platform${path}`, {
    key: gateway.platformKey,
    ...(body && { body }),
    ...(headers && { headers }),
  });
const last = (method: string) => gateway.services.called(method).at(-1);

test('an integration is registered under the id given, or a new one', async () => {
  const integrationId = newId();
  const body = { integrationId, name: 'Bridge', permissions: ['ENQUEUE_RETAILER_CHAT'] };
  const answer = await send('POST', '/integrations', body);
  expect(answer.status).toBe(201);
  expect(answer.json).toEqual(body);
  expect(last('registerIntegration')?.request).toMatchObject({ ...body, permissions: [1] });
  expect(last('registerIntegration')?.call.identity.kind).toBe('platform');
  const fresh = await send('POST', '/integrations', { name: 'Bridge' });
  expect(fresh.json).toEqual({
    integrationId: expect.any(String),
    name: 'Bridge',
    permissions: [],
  });
});

test('a registration that leaves something out is answered with what the integration has', async () => {
  const stored = {
    permissions: [Permission.READ_SIN],
    rateLimit: { requests: 1, windowSeconds: 2 },
  };
  gateway.services.registered = stored;
  onTestFinished(() => {
    gateway.services.registered = {};
  });
  const body = { integrationId: newId(), name: 'Bridge' };
  const answer = await send('POST', '/integrations', body);
  const shown = { ...body, permissions: ['READ_SIN'], rateLimit: stored.rateLimit };
  expect(answer.json).toEqual(shown);
  expect(last('registerIntegration')?.request).toMatchObject({ noPermissions: false });
  await send('POST', '/integrations', { ...body, permissions: [] });
  expect(last('registerIntegration')?.request).toMatchObject({ noPermissions: true });
});

test('a change of an integration names the permissions, and without a rate limit takes it away', async () => {
  const path = `/integrations/${newId()}`;
  const body = { name: 'Bridge', permissions: ['FORCE_PULL'] };
  expect((await send('PUT', path, body)).status).toBe(204);
  const { request } = last('changeIntegration') ?? {};
  expect(request).toMatchObject({ name: 'Bridge', permissions: [Permission.FORCE_PULL] });
  expect(request).not.toHaveProperty('rateLimit');
  for (const name of Object.keys(body)) {
    const { status, json } = await send('PUT', path, { ...body, [name]: undefined });
    expect([status, json.errors[0].pointer]).toEqual([400, `/${name}`]);
  }
});

test('an unknown property of a rate limit is not in the answer', async () => {
  const rateLimit = { requests: 1, windowSeconds: 1 };
  const body = { name: 'Bridge', rateLimit: { ...rateLimit, unknownProperty: 0 } };
  const { status, json } = await send('POST', '/integrations', body);
  expect(status).toBe(201);
  expect(json).toMatchObject({ rateLimit });
  expect(json).not.toHaveProperty('rateLimit.unknownProperty');
});

test('the Idempotency-Key of a registration reaches the service, and a replay is marked', async () => {
  const body = { name: 'Bridge' };
  const answer = await send('POST', '/integrations', body, { 'Idempotency-Key': 'replayed' });
  expect(answer.headers.get('idempotent-replayed')).toBe('true');
  // The service makes the id. If the gateway made one, a repeated request would have another digest.
  expect(last('registerIntegration')?.request).toMatchObject({ integrationId: '' });
  expect(last('registerIntegration')?.call.idempotency?.key).toBe('replayed');
});

test('the Idempotency-Key of a destination reaches the service, and a replay is marked', async () => {
  const body = { url: 'https://hooks.example.com/creditlane' };
  const headers = { 'Idempotency-Key': 'replayed' };
  const answer = await send('PUT', `/integrations/${newId()}/destination`, body, headers);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('idempotent-replayed')).toBe('true');
  expect(last('setDestination')?.call.idempotency?.key).toBe('replayed');
});

test('an integration is read with the ids of its keys and its destination', async () => {
  const integrationId = newId();
  const answer = await send('GET', `/integrations/${integrationId}`);
  expect(answer.status).toBe(200);
  expect(answer.json).toEqual({
    integrationId,
    name: 'Maple Lending Bridge',
    permissions: ['ENQUEUE_RETAILER_CHAT'],
    rateLimit: { requests: 600, windowSeconds: 60 },
    keys: [{ keyId: expect.any(String), createdAt: '2026-02-01T09:00:00.000Z' }],
    destination: {
      destinationId: expect.any(String),
      url: 'https://hooks.maple.example/creditlane',
    },
  });
});

test('keys are issued, live unless asked otherwise, and revoked', async () => {
  const path = `/integrations/${newId()}/keys`;
  const live = await send('POST', path);
  expect(live.status).toBe(201);
  expect(live.json.key).toMatch(/^cl_live_/);
  expect((await send('POST', path, { live: false })).json.key).toMatch(/^cl_test_/);
  const revoked = await send('DELETE', `${path}/${live.json.keyId}`);
  expect(revoked.status).toBe(204);
  expect(revoked.text).toBe('');
  expect(last('revokeKey')?.request).toMatchObject({ keyId: live.json.keyId });
});

test.each([
  ['retailers', 'grantRetailer', 'retailerId'],
  ['creditors', 'grantCreditor', 'creditorId'],
])('grants on %s are given and taken', async (sort, method, name) => {
  const [integrationId, id] = [newId(), newId()];
  for (const [verb, granted] of [
    ['PUT', true],
    ['DELETE', false],
  ] as const) {
    const answer = await send(verb, `/integrations/${integrationId}/${sort}/${id}`);
    expect(answer.status).toBe(204);
    expect(last(method)?.request).toMatchObject({ integrationId, [name]: id, granted });
  }
});

test('a destination is set, and its secret shown', async () => {
  const answer = await send('PUT', `/integrations/${newId()}/destination`, {
    url: 'https://hooks.example.com/creditlane',
  });
  expect(answer.status).toBe(200);
  expect(answer.json).toEqual({
    destinationId: expect.any(String),
    secret: expect.stringMatching(/^whsec_/),
  });
});

describe('a destination with an event filter', () => {
  const url = 'https://hooks.example.com/creditlane';
  const path = `/integrations/${newId()}/destination`;
  const names = Object.keys(openApiDocument().webhooks);

  test.each([
    { events: ['applicationDeclined', 'applicationBooked'] },
    // An event of a later version must not be missing in the limit of the filter.
    { events: names },
  ])('is set for $events, with the request’s Idempotency-Key', async ({ events }) => {
    const headers = { 'Idempotency-Key': 'replayed' };
    const answer = await send('PUT', path, { url, events }, headers);
    expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    const { request, call } = last('setDestination') ?? {};
    expect(request).toMatchObject({ url, events });
    expect(call?.idempotency?.key).toBe('replayed');
  });

  test('is set without the filter by a request without events', async () => {
    await send('PUT', path, { url });
    expect(last('setDestination')?.request).toMatchObject({ url, events: [] });
  });

  test('is read with it', async () => {
    gateway.services.eventFilter = ['applicationBooked'];
    onTestFinished(() => {
      gateway.services.eventFilter = [];
    });
    const answer = await send('GET', `/integrations/${newId()}`);
    expect(answer.json.destination.events).toEqual(['applicationBooked']);
  });

  test.each([
    { events: ['applicationLost'], pointer: '/events/0' },
    { events: ['applicationBooked', 'ApplicationBooked'], pointer: '/events/1' },
    { events: [], pointer: '/events' },
    { events: ['applicationBooked', 'applicationBooked'], pointer: '/events' },
    { events: [...names, 'applicationLost'], pointer: '/events' },
    { events: 'applicationBooked', pointer: '/events' },
  ])('is refused for $events, naming $pointer', async ({ events, pointer }) => {
    const calls = gateway.services.called('setDestination').length;
    const answer = await send('PUT', path, { url, events });
    expect(answer.status).toBe(400);
    expect(answer.json.errors[0]).toMatchObject({ pointer });
    expect(gateway.services.called('setDestination')).toHaveLength(calls);
  });
});

describe('the rate limit of a destination', () => {
  const url = 'https://hooks.example.com/creditlane';
  const path = `/integrations/${newId()}/destination`;

  test.each([1, 20, 1_000])('is set to %i deliveries per second', async (deliveriesPerSecond) => {
    expect((await send('PUT', path, { url, deliveriesPerSecond })).status).toBe(200);
    expect(last('setDestination')?.request).toMatchObject({ url, deliveriesPerSecond });
  });

  test.each([{}, { deliveriesPerSecond: null }])(
    'is removed by a request without one (%j)',
    async (fields) => {
      await send('PUT', path, { url, ...fields });
      expect(last('setDestination')?.request).not.toHaveProperty('deliveriesPerSecond');
    },
  );

  test('is read, where there is one', async () => {
    const read = async () => (await send('GET', `/integrations/${newId()}`)).json.destination;
    expect(await read()).not.toHaveProperty('deliveriesPerSecond');
    gateway.services.deliveriesPerSecond = 20;
    onTestFinished(() => {
      gateway.services.deliveriesPerSecond = undefined;
    });
    expect(await read()).toMatchObject({ deliveriesPerSecond: 20 });
  });

  test.each([0, -1, 1_001, 1.5, 1e9, '20', true, [20], {}])(
    'is refused as %j, naming the field',
    async (deliveriesPerSecond) => {
      const calls = gateway.services.called('setDestination').length;
      const answer = await send('PUT', path, { url, deliveriesPerSecond });
      expect(answer.status).toBe(400);
      expect(answer.json.errors[0]).toMatchObject({ pointer: '/deliveriesPerSecond' });
      expect(gateway.services.called('setDestination')).toHaveLength(calls);
    },
  );
});

test('a destination is removed without a body in the answer', async () => {
  const integrationId = newId();
  const answer = await send('DELETE', `/integrations/${integrationId}/destination`);
  expect([answer.status, answer.text]).toEqual([204, '']);
  expect(last('removeDestination')?.request).toMatchObject({ integrationId });
});

test.each([
  [undefined, 24],
  [{}, 24],
  [{ overlapHours: 0 }, 0],
  [{ overlapHours: 168 }, 168],
])(
  'a rotation with the body %j overlaps for %i hours and shows the new secret',
  async (body, overlapHours) => {
    const answer = await send('POST', `/integrations/${newId()}/destination/secret`, body, {
      'Idempotency-Key': newId(),
    });
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      secret: expect.stringMatching(/^whsec_/),
      overlapEndsAt: '2026-02-02T12:00:00.000Z',
    });
    expect(last('rotateSecret')?.request).toMatchObject({ overlapHours });
    expect(last('rotateSecret')?.call.idempotency?.key).toEqual(expect.any(String));
  },
);

test.each([-1, 169, 1.5, '24'])(
  'a rotation with overlapHours %j is refused',
  async (overlapHours) => {
    const path = `/integrations/${newId()}/destination/secret`;
    const calls = gateway.services.called('rotateSecret').length;
    const answer = await send('POST', path, { overlapHours });
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toMatchObject([{ pointer: '/overlapHours' }]);
    expect(gateway.services.called('rotateSecret')).toHaveLength(calls);
  },
);

test.each([
  ['DELETE', ''],
  ['POST', '/secret'],
])(
  '%s of a destination%s needs a platform key that may manage integrations',
  async (method, end) => {
    const path = `/v1/platform/integrations/${gateway.ids.integration}/destination${end}`;
    const directoryKey = gateway.services.issue(Caller.PLATFORM, newId(), ['MANAGE_DIRECTORY']);
    expect((await gateway.send(method, path)).status).toBe(401);
    expect((await gateway.send(method, path, { key: directoryKey })).status).toBe(403);
  },
);

test.each([
  ['/retailers', 'registerRetailer', { name: 'Harbour' }, 'retailer', 'retailerId', {}],
  [
    '/retailer-groups',
    'registerRetailerGroup',
    { name: 'Group' },
    'retailerGroup',
    'retailerGroupId',
    {},
  ],
  [
    '/users',
    'registerUser',
    { firstName: 'Noor', lastName: 'Singh', email: 'noor@example.com', retailerIds: [newId()] },
    'user',
    'userId',
    { active: true },
  ],
  ['/creditors', 'registerCreditor', { name: 'Prairie' }, 'creditor', 'creditorId', {}],
])(
  '%s are registered under the id in the path',
  async (path, method, body, record, name, added) => {
    const id = newId();
    const answer = await send('PUT', `${path}/${id}`, body);
    expect(answer.status).toBe(204);
    expect(last(method)?.request).toMatchObject({ [record]: { ...body, ...added, [name]: id } });
  },
);

test('an invalid record is refused, naming every wrong field', async () => {
  const answer = await send('PUT', `/users/${newId()}`, { firstName: '', email: 'x' });
  expect(answer.status).toBe(400);
  expect(answer.json.message).toBe(
    '/firstName must not be empty; /email must be an e-mail address',
  );
});

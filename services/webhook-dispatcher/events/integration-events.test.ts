import { createHmac, randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { deliveriesClient, ownDeliveries, ownerOf } from '../own-deliveries/test-owner.ts';
import { createTestFixture, sequences, type TestFixture, until } from '../test-fixture.ts';
import { answer } from '../test-receiver.ts';
import { retailerEnabled, type TestEnablement } from './test-enablements.ts';

let fixture: TestFixture;
beforeEach(async () => {
  fixture = await createTestFixture();
});
afterEach(() => fixture.close());

const enabled = (of: TestEnablement) => retailerEnabled(fixture, of);

test('integrationEnabled goes to the enabled integration alone, signed in X-INTEGRATION-SIGNATURE', async () => {
  const others = await fixture.addReceiver();
  const { destinationId: integrationId, received, secret } = await fixture.addReceiver();
  const { bus, settled } = await fixture.start();
  const configJson = '{"dealer":{"code":"H-7"},"__proto__":{"a":1},"lots":[1,2.5,null]}';
  await bus.publish([enabled({ integrationId, configJson })]);
  await settled();
  expect(others.received).toEqual([]);
  const [webhook] = received;
  expect(webhook?.path).toBe('/integration-enabled');
  const { retailerId } = fixture;
  expect(webhook?.body).toBe(
    `{"retailerId":"${retailerId}","retailerName":"Harbour Motors","configJson":${configJson}}`,
  );
  const hmac = createHmac('sha256', secret)
    .update(webhook?.body ?? '')
    .digest('hex');
  expect(webhook?.headers['x-integration-signature']).toBe(hmac);
  expect(webhook?.headers['x-service-signature']).toBeUndefined();
});

test('without a configuration the body has no configJson', async () => {
  const { destinationId: integrationId, received } = await fixture.addReceiver();
  const { bus, settled } = await fixture.start();
  await bus.publish([enabled({ integrationId })]);
  await settled();
  expect(received.map(({ body }) => JSON.parse(body))).toEqual([
    { retailerId: fixture.retailerId, retailerName: 'Harbour Motors' },
  ]);
});

test('the configuration is in no table and in no line of the log, also when the receiver fails', async () => {
  const { destinationId: integrationId, received, respondWith } = await fixture.addReceiver();
  respondWith(answer(500));
  const { bus, logged } = await fixture.start();
  await bus.publish([enabled({ integrationId, configJson: '{"password":"correct horse"}' })]);
  await until(() => expect(received.length).toBeGreaterThan(2));
  expect(new Set(received.map(({ body }) => body)).size).toBe(1);
  expect(received[0]?.body).toContain('correct horse');
  const { rows } = await fixture.sql.query(
    `SELECT messages::text AS row FROM messages
     UNION ALL SELECT deliveries::text FROM deliveries
     UNION ALL SELECT attempts::text FROM attempts`,
  );
  expect(JSON.stringify([rows, logged()])).not.toContain('correct horse');
});

test('enablings by one retailer keep their order while the receiver fails, and another retailer does not wait', async () => {
  const { destinationId: integrationId, received, respondWith } = await fixture.addReceiver();
  const otherRetailer = randomUUID();
  const refused = new Set(['{"n":1}', '{"n":2}']);
  respondWith(({ body }, response) => {
    const { configJson } = JSON.parse(body);
    response.writeHead(refused.delete(JSON.stringify(configJson)) ? 500 : 200).end();
  });
  const { bus } = await fixture.start();
  const configs = ['{"n":1}', '{"n":2}', '{"n":3}'];
  await bus.publish([
    ...configs.map((configJson) => enabled({ integrationId, configJson })),
    enabled({ integrationId, retailerId: otherRetailer }),
  ]);
  await until(() => expect(received).toHaveLength(6));
  const of = (retailerId: string) =>
    received.filter(({ body }) => JSON.parse(body).retailerId === retailerId);
  expect(sequences(of(fixture.retailerId))).toEqual([1, 1, 2, 2, 3]);
  expect(sequences(of(otherRetailer))).toEqual([1]);
});

test('an enabling of an integration without a destination makes no delivery', async () => {
  await fixture.addReceiver();
  const { bus, settled } = await fixture.start();
  await bus.publish([enabled({ integrationId: randomUUID() })]);
  await settled();
  const { rows } = await fixture.sql.query('SELECT id FROM deliveries');
  expect(rows).toEqual([]);
});

test('a delivery whose enablement was deleted becomes dead, and the next is sent', async () => {
  const { destinationId: integrationId, received } = await fixture.addReceiver();
  const { bus, settled } = await fixture.start();
  await bus.publish([enabled({ integrationId, exists: false }), enabled({ integrationId })]);
  await settled();
  expect(received).toHaveLength(1);
  const { rows } = await fixture.sql.query(
    'SELECT state, reason FROM deliveries ORDER BY position',
  );
  expect(rows).toEqual([
    { state: 'dead', reason: 'enablement_not_found' },
    { state: 'delivered', reason: null },
  ]);
});

test('an enabling is not replayed to an integration that has lost its grant on the retailer', async () => {
  const receiver = await fixture.addReceiver();
  const { destinationId: integrationId, received } = receiver;
  const dispatcher = await fixture.start();
  await dispatcher.bus.publish([enabled({ integrationId })]);
  await dispatcher.settled();
  fixture.integrations.state.withoutGrants.add(integrationId);
  const [{ deliveryId } = expect.unreachable()] = await ownDeliveries(dispatcher, receiver);
  const replay = () =>
    deliveriesClient(dispatcher).replayDelivery({ deliveryId }, ownerOf(receiver));
  await expect(replay()).rejects.toMatchObject({ kind: 'conflict', code: 'grant_missing' });
  fixture.integrations.state.withoutGrants.clear();
  await replay();
  await dispatcher.settled();
  expect(received).toHaveLength(2);
});

test('the delivery of an enabling names the retailer, and no application or creditor', async () => {
  const receiver = await fixture.addReceiver();
  const { destinationId: integrationId } = receiver;
  const dispatcher = await fixture.start();
  const { bus, settled } = dispatcher;
  await bus.publish([enabled({ integrationId })]);
  await settled();
  expect(await ownDeliveries(dispatcher, receiver)).toMatchObject([
    {
      event: 'integrationEnabled',
      retailerId: fixture.retailerId,
      applicationId: '',
      creditorId: '',
    },
  ]);
});

test('an event without a readable id becomes a dead letter', async () => {
  const { destinationId: integrationId, received } = await fixture.addReceiver();
  const { bus, settled } = await fixture.start();
  await bus.publish([enabled({ integrationId, retailerId: 'R-17' }), enabled({ integrationId })]);
  await settled();
  expect(received).toHaveLength(1);
  const { rows } = await fixture.sql.query('SELECT reason FROM dead_letters');
  expect(rows).toEqual([{ reason: expect.stringContaining('no UUID') }]);
});

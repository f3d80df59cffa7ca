// A webhook event type that only this file adds. It is made from another bus event than decisions, has
// another ordering key, one recipient and another signature header, and is rendered when it is sent.
import { createHmac, randomUUID } from 'node:crypto';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { toMessage } from '@creditlane/events/message';
import type { ApplicationSubmitted } from '@creditlane/proto/applications/v1/applications_events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSchemaCompiler } from './events/body-schema.ts';
import {
  type DestinationRevision,
  UnreadableEventError,
  type WebhookEventType,
  type WebhookSource,
} from './events/webhook-event-type.ts';
import { type SourceLookups, webhookSources } from './events/webhook-sources.ts';
import { deliveriesClient, ownDeliveries, ownerOf } from './own-deliveries/test-owner.ts';
import {
  createTestFixture,
  sequences,
  type TestFixture,
  until,
  upTo,
  waitForRelease,
} from './test-fixture.ts';
import { answer } from './test-receiver.ts';

let fixture: TestFixture;
/** The one destination that receives the events. */
let recipients: DestinationRevision[];
/** The service that the content is read from when a webhook is sent, by application. */
let snapshots: Map<string, object>;
let isSnapshotServiceAvailable: boolean;

beforeEach(async () => {
  fixture = await createTestFixture();
  recipients = [];
  snapshots = new Map();
  isSnapshotServiceAvailable = true;
});
afterEach(() => fixture.close());

const applicationSubmitted: WebhookEventType<ApplicationSubmitted, null> = {
  name: 'applicationSubmitted',
  path: '/application-submitted',
  signatureHeader: 'X-INTEGRATION-SIGNATURE',
  renderBody: createSchemaCompiler()({
    type: 'object',
    required: ['applicationId', 'applicant'],
    properties: { applicationId: { type: 'string' }, applicant: { type: 'string' } },
  }),
  orderedBy: 'application',
  orderingKey: ({ creditorId }) => creditorId,
  numberingKey: ({ creditorId }) => creditorId,
  recipientLookup: { find: async (queries) => queries.map(() => recipients) },
  recipientQuery: () => null,
  rendering: {
    at: 'sending',
    reference: ({ applicationId }) => applicationId,
    async payload(applicationId) {
      if (!isSnapshotServiceAvailable) throw new Error('the snapshot service is unavailable');
      return { applicationId, ...snapshots.get(applicationId) };
    },
  },
};

const submissionSource: WebhookSource<ApplicationSubmitted> = {
  topic: 'creditlane.applications.v1',
  busEventType: 'creditlane.applications.v1.ApplicationSubmitted',
  eventTypes: [applicationSubmitted],
  eventTypeOf({ retailerId }) {
    if (retailerId === '') throw new UnreadableEventError('no retailer submitted it');
    return applicationSubmitted;
  },
  recordedAt: ({ submittedAt }) => (submittedAt ? timestampDate(submittedAt) : new Date()),
};

const start = (settings: Record<string, string> = {}) =>
  fixture.start(settings, (lookups: SourceLookups) => [
    ...webhookSources(lookups),
    submissionSource,
  ]);

/** Adds a receiver that the events go to. */
async function addRecipient() {
  const receiver = await fixture.addReceiver();
  recipients.push({ destinationId: receiver.destinationId, revision: 1 });
  return receiver;
}

/** An event about an application whose snapshot has that applicant. */
function submitted({ applicant = 'Ana', retailerId = fixture.retailerId as string } = {}) {
  const { creditorId } = fixture;
  const applicationId = randomUUID();
  snapshots.set(applicationId, { applicant });
  const time = new Date();
  return toMessage(
    {
      id: randomUUID(),
      topic: 'creditlane.applications.v1',
      key: applicationId,
      type: 'creditlane.applications.v1.ApplicationSubmitted',
      payload: { applicationId, creditorId, retailerId, submittedAt: time.toISOString() },
      time,
    },
    'applications',
  );
}

test('a webhook of the new type is sent to its recipient alone, at its path, signed in its header', async () => {
  const others = await fixture.addReceiver();
  const { received, secret } = await addRecipient();
  const { bus, settled } = await start();
  await bus.publish([submitted()]);
  await settled();
  expect(others.received).toEqual([]);
  expect(received).toHaveLength(1);
  const { path, headers, body } = received[0] ?? expect.unreachable();
  expect(path).toBe('/application-submitted');
  expect(JSON.parse(body)).toMatchObject({ applicant: 'Ana' });
  const hmac = createHmac('sha256', secret).update(body).digest('hex');
  expect(headers['x-integration-signature']).toBe(hmac);
  expect(headers['x-service-signature']).toBeUndefined();
});

test('webhooks of the new type keep the order of their ordering key while the receiver fails', async () => {
  const { received, respondWith } = await addRecipient();
  const refused = new Set([1, 3]);
  respondWith(({ headers }, response) => {
    const fails = refused.delete(Number(headers['webhook-sequence']));
    response.writeHead(fails ? 500 : 200).end();
  });
  const { bus } = await start();
  const applicants = ['Ana', 'Bo', 'Cy', 'Di'];
  await bus.publish(applicants.map((applicant) => submitted({ applicant })));
  await until(() => expect(sequences(received)).toEqual([1, 1, 2, 3, 3, 4]));
  const sent = received.map(({ body }) => JSON.parse(body).applicant);
  expect(sent).toEqual(['Ana', 'Ana', 'Bo', 'Cy', 'Cy', 'Di']);
});

test('a webhook rendered when sent is stored as a reference, and has the same bytes on every attempt', async () => {
  const { received, respondWith } = await addRecipient();
  respondWith(answer(500));
  const { bus } = await start();
  await bus.publish([submitted({ applicant: 'Zoë' })]);
  await until(() => expect(received.length).toBeGreaterThan(2));
  expect(new Set(received.map(({ body }) => body)).size).toBe(1);
  const { rows } = await fixture.sql.query('SELECT body, reference FROM messages');
  expect(rows).toEqual([{ body: null, reference: [...snapshots.keys()][0] }]);
});

test('a webhook rendered when sent is dead if its payload does not match its schema, and the next is sent', async () => {
  const { received } = await addRecipient();
  const { bus, settled } = await start();
  const [unfit, next] = [submitted(), submitted()];
  snapshots.set(unfit.key, { applicant: 7 });
  await bus.publish([unfit, next]);
  await settled();
  expect(received.map(({ body }) => JSON.parse(body).applicationId)).toEqual([next.key]);
  const { rows } = await fixture.sql.query(
    'SELECT state, reason FROM deliveries ORDER BY position',
  );
  expect(rows).toEqual([
    { state: 'dead', reason: 'payload_unfit: /applicant must be string' },
    { state: 'delivered', reason: null },
  ]);
  const attempts = await fixture.sql.query('SELECT status, failure FROM attempts ORDER BY number');
  expect(attempts.rows).toContainEqual({ status: null, failure: 'payload_unfit' });
});

test('a webhook rendered when sent waits while its content cannot be read, and no attempt is counted', async () => {
  const { received } = await addRecipient();
  isSnapshotServiceAvailable = false;
  const { bus, settled } = await start();
  await bus.publish([submitted()]);
  await waitForRelease(fixture);
  isSnapshotServiceAvailable = true;
  await until(() => expect(received).toHaveLength(1));
  await settled();
  const { rows } = await fixture.sql.query('SELECT state, attempts FROM deliveries');
  expect(rows).toEqual([{ state: 'delivered', attempts: 1 }]);
});

test('a webhook whose payload names neither a retailer nor a creditor is not replayed', async () => {
  const receiver = await addRecipient();
  const dispatcher = await start();
  await dispatcher.bus.publish([submitted()]);
  await dispatcher.settled();
  const [delivery] = await ownDeliveries(dispatcher, receiver);
  const { deliveryId = expect.unreachable() } = delivery ?? {};
  const replayed = deliveriesClient(dispatcher).replayDelivery({ deliveryId }, ownerOf(receiver));
  await expect(replayed).rejects.toMatchObject({ code: 'grant_missing' });
});

test('one dispatcher delivers webhooks of the new type and of decisions', async () => {
  const { received } = await addRecipient();
  const { bus, settled } = await start();
  await bus.publish([submitted()]);
  await bus.publish(upTo(2).map((sequence) => fixture.event({ sequence })));
  await settled();
  expect(received.map(({ path }) => path).sort()).toEqual([
    '/application-booked',
    '/application-booked',
    '/application-submitted',
  ]);
});

test('an event that its source cannot read becomes a dead letter', async () => {
  const { received } = await addRecipient();
  const { bus, settled } = await start();
  await bus.publish([submitted({ retailerId: '' }), submitted()]);
  await settled();
  expect(received).toHaveLength(1);
  const { rows } = await fixture.sql.query('SELECT reason FROM dead_letters');
  expect(rows).toEqual([{ reason: expect.stringContaining('no retailer submitted it') }]);
});

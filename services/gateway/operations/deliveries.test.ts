import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { DeliveryState } from '@creditlane/proto/webhooks/v1/delivery';
import { conflict, invalid, unavailable } from '@creditlane/rpc/fault';
import { newId } from '@creditlane/runtime/ids';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { webhookExamples } from '../document/examples.ts';
import { openApiDocument } from '../document/openapi-document.ts';
import { startTestGateway } from '../test-gateway.ts';

const gateway = await startTestGateway();
afterAll(gateway.close);
const LIST = '/v1/webhook-deliveries';
const TEST_EVENTS = '/v1/webhook-test-events';
const REPLAYS = '/v1/webhook-replays';
const TIME = '2026-03-02T15:04:05.678Z';
const deliveryId = newId();
const { application: applicationId, creditor: creditorId } = gateway.ids;
const timestamp = timestampFromDate(new Date(TIME));

beforeEach(() => {
  gateway.services.calls.length = 0;
  gateway.services.failures.clear();
  gateway.services.deliveries = [
    {
      deliveryId,
      event: 'applicationBooked',
      applicationId,
      creditorId,
      sequence: 1,
      state: DeliveryState.DEAD,
      reason: 'attempts_exhausted',
      attemptCount: 2,
      createdAt: timestamp,
      settledAt: timestamp,
    },
  ];
});

const DELIVERY = {
  deliveryId,
  event: 'applicationBooked',
  applicationId,
  creditorId,
  sequence: 1,
  state: 'DEAD',
  reason: 'attempts_exhausted',
  attemptCount: 2,
  createdAt: TIME,
  settledAt: TIME,
};

describe('GET /webhook-deliveries', () => {
  test('lists the deliveries, without the fields that they do not have', async () => {
    const answer = await gateway.send('GET', LIST);
    expect([answer.status, answer.json]).toEqual([200, { data: [DELIVERY], nextCursor: 'next' }]);
    const [called] = gateway.services.called('listOwnDeliveries');
    expect(called?.call.identity).toMatchObject({
      kind: 'integration',
      subject: gateway.ids.integration,
    });
    expect(called?.request).toMatchObject({ state: 0, event: '', applicationId: '', limit: 25 });
  });

  test('passes on every filter', async () => {
    const filter = new URLSearchParams({
      state: 'DUE',
      event: 'applicationBooked',
      applicationId: applicationId.toUpperCase(),
      createdFrom: '2026-03-02T16:04:05.678+01:00',
      createdBefore: '2026-03-03T00:00:00Z',
      limit: '7',
      cursor: 'next',
    });
    expect((await gateway.send('GET', `${LIST}?${filter}`)).status).toBe(200);
    expect(gateway.services.called('listOwnDeliveries')[0]?.request).toMatchObject({
      state: DeliveryState.DUE,
      event: 'applicationBooked',
      applicationId,
      createdFrom: timestamp,
      createdBefore: timestampFromDate(new Date('2026-03-03T00:00:00Z')),
      limit: 7,
      cursor: 'next',
    });
  });

  test.each([
    ['state', 'LOST'],
    ['event', 'applicationLost'],
    ['applicationId', 'A-17'],
    ['createdFrom', 'yesterday'],
    ['createdFrom', '2026-03-02'],
    ['createdBefore', '2026-12-31T23:59:60Z'],
    ['limit', '101'],
  ])('with %s=%s is 400 and names the parameter', async (name, value) => {
    const answer = await gateway.send('GET', `${LIST}?${name}=${encodeURIComponent(value)}`);
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toMatchObject([{ in: 'query', pointer: `/${name}` }]);
    expect(gateway.services.called('listOwnDeliveries')).toEqual([]);
  });

  test.each(['2026-03-31T14:30:00+02:00', '2026-03-31T14:30:00.000+0200'])(
    'with a + that is not encoded, as in createdFrom=%s, is 400 and says so',
    async (time) => {
      const answer = await gateway.send('GET', `${LIST}?createdFrom=${time}`);
      expect(answer.status).toBe(400);
      const message = 'has a space where a + was: write it as %2B';
      expect(answer.json.errors).toEqual([{ in: 'query', pointer: '/createdFrom', message }]);
    },
  );

  test('with a range of times that the service refuses is 400 and names the parameter', async () => {
    const fields = [{ pointer: '/createdBefore', message: 'must be later than createdFrom' }];
    gateway.services.failures.set('listOwnDeliveries', () => invalid('invalid_range', '', fields));
    const answer = await gateway.send('GET', `${LIST}?createdFrom=${TIME}&createdBefore=${TIME}`);
    expect([answer.status, answer.json.code]).toEqual([400, 'invalid_range']);
    expect(answer.json.errors).toEqual([{ in: 'query', ...fields[0] }]);
  });
});

describe('GET /webhook-deliveries/{deliveryId}', () => {
  test('answers with the attempts, each with a status or a failure', async () => {
    const answer = await gateway.send('GET', `${LIST}/${deliveryId.toUpperCase()}`);
    const attempts = [
      { startedAt: TIME, durationMs: 15_000, failure: 'deadline' },
      { startedAt: TIME, durationMs: 41, status: 500, answer: 'no "disk"\0' },
    ];
    expect([answer.status, answer.json]).toEqual([200, { ...DELIVERY, attempts }]);
  });

  test('for an unknown delivery is 404', async () => {
    const answer = await gateway.send('GET', `${LIST}/${newId()}`);
    expect([answer.status, answer.json.code]).toEqual([404, 'delivery_not_found']);
  });
});

describe('POST /webhook-deliveries/{deliveryId}/replay', () => {
  const replay = (headers: Record<string, string> = {}) =>
    gateway.send('POST', `${LIST}/${deliveryId}/replay`, { headers });

  test('is 202 with the delivery, and a repeated request is marked', async () => {
    const answer = await replay({ 'Idempotency-Key': 'replayed' });
    expect([answer.status, answer.json]).toEqual([202, DELIVERY]);
    expect(answer.headers.get('idempotent-replayed')).toBe('true');
  });

  test('of a delivery that cannot be replayed is 409 with the reason', async () => {
    gateway.services.failures.set('replayDelivery', () => conflict('delivery_pending', 'pending'));
    const answer = await replay();
    expect([answer.status, answer.json.code]).toEqual([409, 'delivery_pending']);
  });
});

describe('POST /webhook-replays', () => {
  const begin = (body: object, headers: Record<string, string> = {}) =>
    gateway.send('POST', REPLAYS, { body, headers });
  const REPLAY = {
    replayId: expect.any(String),
    matched: 7,
    replayed: 0,
    skipped: 0,
    remaining: 0,
  };

  test('is 202 with the replay, and passes on every filter', async () => {
    const times = { createdFrom: TIME, createdBefore: '2026-03-03T00:00:00.000Z' };
    const filter = { state: 'DELIVERED', event: 'applicationBooked', ...times };
    const answer = await begin(filter, { 'Idempotency-Key': 'replayed' });
    const expected = { ...REPLAY, state: 'COUNTING', filter, requestedAt: TIME };
    expect([answer.status, answer.json]).toEqual([202, expected]);
    expect(answer.headers.get('idempotent-replayed')).toBe('true');
    expect(gateway.services.called('replayDeliveries')[0]?.request).toMatchObject({
      filter: {
        state: DeliveryState.DELIVERED,
        event: 'applicationBooked',
        createdFrom: timestamp,
        createdBefore: timestampFromDate(new Date(times.createdBefore)),
      },
    });
  });

  test('with an empty object is of what is dead, and without a body 400', async () => {
    expect((await begin({})).status).toBe(202);
    const [called] = gateway.services.called('replayDeliveries');
    expect(called?.request).toMatchObject({ filter: { event: '' } });
    const answer = await gateway.send('POST', REPLAYS);
    expect([answer.status, answer.json.code]).toEqual([400, 'body_missing']);
  });

  test.each([
    ['state', 'DUE'],
    ['event', 'applicationLost'],
    ['createdFrom', '2026-03-02'],
    ['createdBefore', '2026-12-31T23:59:60Z'],
    ['createdBefore', 7],
    ['creatdFrom', '2026-03-02T10:00:00Z'],
  ])('with %s %s is 400 and names the field', async (name, value) => {
    const answer = await begin({ [name]: value });
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toMatchObject([{ pointer: `/${name}` }]);
    expect(answer.json.errors[0].in).toBeUndefined();
    expect(gateway.services.called('replayDeliveries')).toEqual([]);
  });

  test('with a range that the dispatcher refuses is 400 and names the field of the body', async () => {
    const fields = [{ pointer: '/filter/createdBefore', message: 'must be later' }];
    const refusal = () => invalid('invalid_range', 'createdBefore must be later', fields);
    gateway.services.failures.set('replayDeliveries', refusal);
    const answer = await begin({ createdFrom: TIME, createdBefore: TIME });
    expect([answer.status, answer.json.code]).toEqual([400, 'invalid_range']);
    expect(answer.json.errors).toEqual([{ pointer: '/createdBefore', message: 'must be later' }]);
  });

  test('is read and cancelled by its id', async () => {
    const replayId = newId();
    const path = `${REPLAYS}/${replayId.toUpperCase()}`;
    const common = { ...REPLAY, replayId, filter: { state: 'DEAD' }, requestedAt: TIME };
    const read = await gateway.send('GET', path);
    const reason = 'destination_disabled';
    expect([read.status, read.json]).toEqual([200, { ...common, state: 'STOPPED', reason }]);
    const cancelled = await gateway.send('POST', `${path}/cancel`);
    expect([cancelled.status, cancelled.json]).toEqual([200, { ...common, state: 'CANCELLED' }]);
  });
});

describe('POST /webhook-test-events', () => {
  const document = openApiDocument();
  const examples = webhookExamples(document);

  test.each([...examples])('sends the example of %s in the document', async (event, payload) => {
    const answer = await gateway.send('POST', TEST_EVENTS, { body: { event } });
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      event,
      webhookId: expect.any(String),
      succeeded: true,
      status: 204,
      durationMs: 41,
      enabled: false,
    });
    expect(gateway.services.called('sendTestEvent')[0]?.request).toMatchObject({ event, payload });
  });

  test('knows the events of the document’s webhooks, and no others', async () => {
    const { WebhookEvent } = document.components.schemas as unknown as {
      WebhookEvent: { enum: string[] };
    };
    const names = WebhookEvent.enum;
    expect(names.toSorted()).toEqual(Object.keys(document.webhooks).toSorted());
    for (const body of [{ event: 'applicationLost' }, {}, { event: null }]) {
      const answer = await gateway.send('POST', TEST_EVENTS, { body });
      expect(answer.status).toBe(400);
      expect(answer.json.errors).toMatchObject([{ pointer: '/event' }]);
    }
  });
});

test('with a platform key every operation on deliveries is 401', async () => {
  for (const [method, path] of [
    ['GET', LIST],
    ['GET', `${LIST}/${deliveryId}`],
    ['POST', `${LIST}/${deliveryId}/replay`],
    ['POST', REPLAYS],
    ['GET', `${REPLAYS}/${deliveryId}`],
    ['POST', `${REPLAYS}/${deliveryId}/cancel`],
    ['POST', TEST_EVENTS],
  ] as const) {
    const body = path === TEST_EVENTS ? { body: { event: 'applicationBooked' } } : {};
    const answer = await gateway.send(method, path, { key: gateway.platformKey, ...body });
    expect([answer.status, answer.json.code]).toEqual([401, 'key_kind_not_accepted']);
  }
});

test('while the dispatcher is unavailable, its operations are 503 and others are answered', async () => {
  gateway.services.failures.set('listOwnDeliveries', () => unavailable('away'));
  const answer = await gateway.send('GET', LIST);
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
  expect((await gateway.send('GET', gateway.decisionPath)).status).toBe(200);
});

describe('/webhook-destination', () => {
  const PATH = '/v1/webhook-destination';

  test('GET reads the destination, without the fields that it does not have', async () => {
    const { status, json } = await gateway.send('GET', PATH);
    expect(status).toBe(200);
    expect(json).toEqual({
      destinationId: expect.any(String),
      url: 'https://hooks.example.com/creditlane',
    });
  });

  test.each([
    [undefined, 24],
    [{}, 24],
    [{ hours: 1 }, 1],
    [{ hours: 72 }, 72],
  ])('POST …/pause with the body %j pauses for %i hours', async (body, hours) => {
    const { status, json } = await gateway.send('POST', `${PATH}/pause`, { body });
    expect(status).toBe(200);
    const pausedUntil = '2026-03-02T17:30:00.000Z';
    expect(json).toMatchObject({
      events: ['applicationBooked'],
      deliveriesPerSecond: 20,
      pausedUntil,
    });
    const [called] = gateway.services.called('pauseOwnDestination');
    expect(called?.request).toMatchObject({ hours });
  });

  test.each([0, 73, 1.5, '2'])('POST …/pause for %j hours is 400', async (hours) => {
    const { status, json } = await gateway.send('POST', `${PATH}/pause`, { body: { hours } });
    expect(status).toBe(400);
    expect(json).toMatchObject({ code: 'invalid_request', errors: [{ pointer: '/hours' }] });
    expect(gateway.services.called('pauseOwnDestination')).toEqual([]);
  });

  test('POST …/resume resumes the destination of the caller', async () => {
    const { status, json } = await gateway.send('POST', `${PATH}/resume`);
    expect(status).toBe(200);
    expect(json).not.toHaveProperty('pausedUntil');
    const [called] = gateway.services.called('resumeOwnDestination');
    expect(called?.call.identity).toMatchObject({ subject: gateway.ids.integration });
  });
});

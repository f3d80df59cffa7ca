import { conflict, notFound } from '@creditlane/rpc/fault';
import { newId } from '@creditlane/runtime/ids';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { startTestGateway } from '../test-gateway.ts';

const gateway = await startTestGateway();
const { ids, services } = gateway;
afterAll(gateway.close);
afterEach(() => {
  services.failures.clear();
  services.calls.length = 0;
  services.eventFilter = [];
});

const body = () => ({ integrationId: ids.integration, creditorId: ids.creditor });
const send = (change: object = {}, applicationId = ids.application, headers = {}) =>
  gateway.send('POST', `/v1/applications/${applicationId}/export`, {
    body: { ...body(), ...change },
    headers,
  });

describe('exporting an application', () => {
  test('answers 202 with the ids of the export', async () => {
    const answer = await send({ integrationId: ids.integration.toUpperCase() });
    expect(answer.status).toBe(202);
    expect(answer.json).toEqual({
      exportId: expect.any(String),
      applicationId: ids.application,
      ...body(),
      exportedAt: '2026-02-01T12:00:00.000Z',
    });
    const [{ request, call }] = services.called('exportApplication') as [never];
    expect(request).toMatchObject({ applicationId: ids.application, ...body() });
    expect(call).toMatchObject({ identity: { retailerId: ids.retailer } });
  });

  test('repeated with its Idempotency-Key is marked as replayed', async () => {
    const answer = await send({}, ids.application, { 'Idempotency-Key': 'replayed' });
    expect(answer.headers.get('idempotent-replayed')).toBe('true');
  });

  test('to an integration with a grant on the creditor alone is accepted', async () => {
    const integrationId = newId();
    services.grants.add(`${integrationId} ${ids.creditor}`);
    expect((await send({ integrationId })).status).toBe(202);
  });

  test('to an integration without a grant is refused like one that does not exist', async () => {
    const elsewhere = newId();
    services.grants.add(`${elsewhere} ${ids.otherRetailer}`);
    const seen = [];
    for (const integrationId of [elsewhere, newId()]) {
      const { status, json } = await send({ integrationId });
      seen.push({ status, ...json, requestId: '' });
    }
    expect(seen[0]).toMatchObject({ status: 404, code: 'integration_not_found' });
    expect(seen[0]).toEqual(seen[1]);
    const asked = services.called('exportApplication').map(({ request }) => request);
    expect(asked).toMatchObject([{ lacksRecipient: true }, { lacksRecipient: true }]);
  });

  test('to an integration whose event filter lacks the webhook is refused like one that does not exist', async () => {
    const refusals = [];
    for (const [integrationId, eventFilter] of [
      [newId(), []],
      [ids.integration, ['applicationBooked', 'integrationEnabled']],
    ] as const) {
      services.eventFilter = [...eventFilter];
      const { status, json } = await send({ integrationId });
      refusals.push({ status, ...json, requestId: '' });
    }
    expect(refusals[0]).toMatchObject({ status: 404, code: 'integration_not_found' });
    expect(refusals[1]).toEqual(refusals[0]);
    services.eventFilter = ['applicationExported'];
    expect((await send()).status).toBe(202);
  });

  test('of another tenant, or one that does not exist, is refused without a look at the integration', async () => {
    const seen = [];
    for (const applicationId of [ids.otherApplication, newId()]) {
      services.calls.length = 0;
      const { status, json } = await send({ integrationId: newId() }, applicationId);
      seen.push([status, { ...json, requestId: '' }, services.calls.map(({ method }) => method)]);
    }
    expect(seen[0]).toMatchObject([404, { code: 'application_not_found' }, expect.anything()]);
    expect(seen[0]).toEqual(seen[1]);
    expect(services.called('findRecipients')).toEqual([]);
  });

  test.each([
    { fault: notFound('submission_not_found', 'x'), status: 404 },
    { fault: conflict('application_archived', 'x'), status: 409 },
  ])('refused by the service with $fault.code is $status', async ({ fault, status }) => {
    services.failures.set('exportApplication', () => fault);
    const answer = await send();
    expect(answer.status).toBe(status);
    expect(answer.json.code).toBe(fault.code);
  });

  test.each(['integrationId', 'creditorId'])('without %s is refused, naming it', async (name) => {
    const answer = await send({ [name]: undefined });
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toMatchObject([{ pointer: `/${name}` }]);
  });

  test('with a platform key is refused', async () => {
    const path = `/v1/applications/${ids.application}/export`;
    const answer = await gateway.send('POST', path, { body: body(), key: gateway.platformKey });
    expect(answer.status).toBe(401);
  });
});

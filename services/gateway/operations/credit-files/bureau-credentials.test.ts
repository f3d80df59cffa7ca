// The platform's operations on the retailers' credentials at the bureaus, in front of a fake service.
import {
  EquifaxTransport,
  type SetBureauCredentialsRequest,
} from '@creditlane/proto/creditfile/v1/bureau_credentials_service';
import { Source } from '@creditlane/proto/creditfile/v1/credit_file_service';
import { invalidFields } from '@creditlane/rpc/fault';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { startTestGateway } from '../../test-gateway.ts';

const gateway = await startTestGateway();
afterAll(() => gateway.close());
const { services, ids } = gateway;
beforeEach(() => {
  services.failures.clear();
  services.bureauCredentials = [];
});

const send = (method: string, source: string, body?: object) =>
  gateway.send(method, `/v1/platform/retailers/${ids.retailer}/bureau-credentials/${source}`, {
    key: gateway.platformKey,
    ...(body && { body }),
  });
const lastSet = () =>
  services.called('setBureauCredentials').at(-1)?.request as SetBureauCredentialsRequest;

const EQUIFAX = {
  customerCode: 'A123',
  customerNumber: '999ZB12345',
  securityCode: 'secret-code',
  transport: 'OAUTH',
  baseUrl: 'https://equifax.example.com',
  clientId: 'harbour',
  clientSecret: 'secret-client',
};
const TRANSUNION = {
  memberCode: 'HM0012345',
  password: 'secret-password',
  baseUrl: 'https://transunion.example.com',
};

test('credentials of each bureau are set, read without their secrets, and removed', async () => {
  expect((await send('PUT', 'EQUIFAX', EQUIFAX)).status).toBe(204);
  expect(lastSet()).toMatchObject({
    retailerId: ids.retailer,
    credentials: { case: 'equifax', value: { ...EQUIFAX, transport: EquifaxTransport.OAUTH } },
  });
  expect((await send('PUT', 'TRANSUNION', TRANSUNION)).status).toBe(204);
  expect(lastSet().credentials).toMatchObject({ case: 'transunion', value: TRANSUNION });

  const equifax = await send('GET', 'EQUIFAX');
  expect(equifax.json).toEqual({
    source: 'EQUIFAX',
    member: EQUIFAX.customerNumber,
    baseUrl: EQUIFAX.baseUrl,
    setAt: '2026-03-02T15:04:05.678Z',
  });
  const transUnion = await send('GET', 'TRANSUNION');
  expect(transUnion.json).toMatchObject({ source: 'TRANSUNION', member: TRANSUNION.memberCode });
  expect(equifax.text + transUnion.text).not.toContain('secret');

  expect((await send('DELETE', 'EQUIFAX')).status).toBe(204);
  expect(services.called('removeBureauCredentials').at(-1)?.request).toMatchObject({
    retailerId: ids.retailer,
    source: Source.EQUIFAX,
  });
  const missing = await send('GET', 'EQUIFAX');
  expect([missing.status, missing.json.code]).toEqual([404, 'bureau_credentials_not_found']);
});

test.each([
  [{ ...EQUIFAX, customerCode: 'a123' }, '/customerCode', 'must be a letter and three digits'],
  [{ ...EQUIFAX, customerNumber: '12' }, '/customerNumber', 'must be a member number such as'],
  [{ ...EQUIFAX, transport: 'FTP' }, '/transport', 'must be one of OAUTH, SOAP, FORM'],
  [{ ...EQUIFAX, securityCode: undefined }, '/securityCode', 'is required'],
])('credentials with a wrong field are refused: %#', async (body, pointer, message) => {
  const { status, json } = await send('PUT', 'EQUIFAX', body);
  expect(status).toBe(400);
  expect(json.errors).toEqual([{ pointer, message: expect.stringContaining(message) }]);
});

test('a field that the service refuses is named by its place in the body', async () => {
  const fields = [{ pointer: '/equifax/baseUrl', message: 'must begin with https' }];
  services.failures.set('setBureauCredentials', () => invalidFields('invalid_request', fields));
  const { status, json } = await send('PUT', 'EQUIFAX', EQUIFAX);
  expect([status, json.message]).toEqual([400, '/baseUrl must begin with https']);
});

test('an unknown bureau is refused', async () => {
  expect((await send('GET', 'EXPERIAN')).status).toBe(400);
  expect((await send('PUT', 'EXPERIAN', {})).status).toBe(405);
});

test('an integration’s key is refused', async () => {
  const path = `/v1/platform/retailers/${ids.retailer}/bureau-credentials/EQUIFAX`;
  expect((await gateway.send('PUT', path, { body: EQUIFAX })).status).toBe(401);
});

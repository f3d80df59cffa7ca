import { randomUUID } from 'node:crypto';
import {
  EquifaxTransport,
  type SetBureauCredentialsRequest,
} from '@creditlane/proto/creditfile/v1/bureau_credentials_service';
import { Source } from '@creditlane/proto/creditfile/v1/credit_file_service';
import { beforeEach, expect, test } from 'vitest';
import {
  asIntegration,
  asPlatform,
  EQUIFAX_CREDENTIALS,
  setCredentials,
  TRANSUNION_CREDENTIALS,
  useApplicant,
} from '../test-credit-file.ts';

const fixture = useApplicant();
let retailerId: string;
beforeEach(() => {
  retailerId = randomUUID();
});

const client = () => fixture.service.credentials;

async function listed() {
  const { credentials } = await client().listBureauCredentials({ retailerId }, asPlatform());
  return credentials.map(({ source, member, baseUrl }) => ({ source, member, baseUrl }));
}

function setEquifax(change: object) {
  const value = { ...EQUIFAX_CREDENTIALS, ...change };
  const credentials = { case: 'equifax', value } as const;
  return client().setBureauCredentials({ retailerId, credentials }, asPlatform());
}

test('credentials are listed without their secrets, replaced and removed', async () => {
  await setCredentials(fixture.service, retailerId);
  const transunion = {
    source: Source.TRANSUNION,
    member: '4242ON1',
    baseUrl: TRANSUNION_CREDENTIALS.baseUrl,
  };
  expect(await listed()).toEqual([
    { source: Source.EQUIFAX, member: '999ZB12345', baseUrl: EQUIFAX_CREDENTIALS.baseUrl },
    transunion,
  ]);
  await setEquifax({ customerNumber: '111AA11111' });
  expect((await listed())[0]).toMatchObject({ member: '111AA11111' });
  const request = { retailerId, source: Source.EQUIFAX };
  await client().removeBureauCredentials(request, asPlatform());
  await client().removeBureauCredentials(request, asPlatform());
  expect(await listed()).toEqual([transunion]);
  const { rows } = await fixture.service.sql.query(
    'SELECT action, source FROM audit_records WHERE retailer_id = $1 ORDER BY seq',
    [retailerId],
  );
  expect(rows).toEqual([
    { action: 'CREDENTIALS_SET', source: 'EQUIFAX' },
    { action: 'CREDENTIALS_SET', source: 'TRANSUNION' },
    { action: 'CREDENTIALS_SET', source: 'EQUIFAX' },
    { action: 'CREDENTIALS_REMOVED', source: 'EQUIFAX' },
  ]);
});

test('credentials that are damaged do not hide those with the other bureau', async () => {
  await setCredentials(fixture.service, retailerId);
  await fixture.service.sql.query(
    `UPDATE bureau_credentials SET sealed = set_byte(sealed, 40, get_byte(sealed, 40) # 1)
     WHERE retailer_id = $1 AND source = 'EQUIFAX'`,
    [retailerId],
  );
  const list = (source: Source) =>
    client().listBureauCredentials({ retailerId, source }, asPlatform());
  expect(await list(Source.TRANSUNION)).toMatchObject({ credentials: [{ member: '4242ON1' }] });
  await expect(list(Source.EQUIFAX)).rejects.toMatchObject({ kind: 'internal' });
});

test.each([
  { change: { clientSecret: '' }, pointer: '/clientSecret' },
  { change: { transport: EquifaxTransport.SOAP }, pointer: '/clientId' },
  { change: { baseUrl: 'ftp://bureau.example.com' }, pointer: '/baseUrl' },
  { change: { baseUrl: 'http://bureau.example.com' }, pointer: '/baseUrl' },
  { change: { baseUrl: 'https://10.0.0.1' }, pointer: '/baseUrl' },
  { change: { baseUrl: 'https://bureau.example.com/#x' }, pointer: '/baseUrl' },
  { change: { baseUrl: 'https://user:word@bureau.example.com' }, pointer: '/baseUrl' },
  { change: { securityCode: 'a\nb' }, pointer: '/securityCode' },
])('Equifax credentials with $change are refused with the field', async ({ change, pointer }) => {
  const refusal = {
    kind: 'invalid',
    fields: expect.arrayContaining([expect.objectContaining({ pointer })]),
  };
  await expect(setEquifax(change)).rejects.toMatchObject(refusal);
  expect(await listed()).toEqual([]);
});

test('credentials that the contract does not permit are refused', async () => {
  await expect(setEquifax({ customerCode: 'a123' })).rejects.toMatchObject({ kind: 'invalid' });
  await expect(setEquifax({ transport: 0 })).rejects.toMatchObject({ kind: 'invalid' });
  const nothing = { retailerId } as SetBureauCredentialsRequest;
  await expect(client().setBureauCredentials(nothing, asPlatform())).rejects.toMatchObject({
    kind: 'invalid',
  });
});

test('an integration may neither set nor list credentials', async () => {
  const call = client().listBureauCredentials({ retailerId }, asIntegration(retailerId));
  await expect(call).rejects.toMatchObject({ kind: 'forbidden' });
});

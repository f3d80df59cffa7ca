// What only the gRPC mount has: encoded messages from any client, and connections that end.
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { expect, onTestFinished, test } from 'vitest';
import { TokenSigner } from '../identity.ts';
import {
  faultOf,
  GET_DECISION,
  startTestService,
  TEST_INTEGRATION,
  TEST_KEYS,
} from '../test-service.ts';

const SERVICE = '/creditlane.decisions.v1.DecisionsService';
const { privateKey } = TEST_KEYS.gateway;
const token = await new TokenSigner({ issuer: 'gateway', privateKey }).sign(
  'decisions',
  TEST_INTEGRATION,
);

async function open(port = 0) {
  const server = await startTestService('grpc', { port });
  if (server.endpoint.kind !== 'grpc') throw new Error('the service is not behind gRPC');
  return { ...server, address: server.endpoint.address };
}

/** Calls a method with these bytes; resolves with its error, or with null when it succeeds. */
function callWithBytes(
  address: string,
  method: string,
  bytes: Buffer,
  headers: Record<string, string>,
) {
  const client = new Client(address, credentials.createInsecure());
  onTestFinished(() => client.close());
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  const passThrough = (it: Buffer) => it;
  return new Promise<ServiceError | null>((resolve) => {
    client.makeUnaryRequest(
      `${SERVICE}/${method}`,
      passThrough,
      passThrough,
      bytes,
      metadata,
      resolve,
    );
  });
}

test('bytes that cannot be decoded: INVALID_ARGUMENT with a token, UNAUTHENTICATED without', async () => {
  const { address, handled } = await open();
  const garbage = Buffer.from([0xff, 0xff, 0xff]);
  const known = { authorization: `Bearer ${token}` };
  expect(await callWithBytes(address, 'GetDecision', garbage, {})).toMatchObject({
    code: status.UNAUTHENTICATED,
  });
  expect(await callWithBytes(address, 'GetDecision', garbage, known)).toMatchObject({
    code: status.INVALID_ARGUMENT,
    details: 'the request cannot be decoded',
  });
  expect(handled).toEqual([]);
});

test('an unknown method: UNIMPLEMENTED', async () => {
  const { address } = await open();
  expect(await callWithBytes(address, 'Nothing', Buffer.alloc(0), {})).toMatchObject({
    code: status.UNIMPLEMENTED,
  });
});

test('after a restart of the server its client reconnects', async () => {
  const before = await open();
  const { decisions, address } = before;
  const context = { identity: TEST_INTEGRATION };
  await decisions.getDecision(GET_DECISION, context);
  await before.closeServer();
  const record = { ...GET_DECISION, decision: { decision: 1 } };
  const away = await faultOf(decisions.recordDecision(record, context));
  expect(away).toMatchObject({ kind: 'unavailable', retryAfterS: 1 });

  const after = await open(Number(address.split(':')[1]));
  await expect
    .poll(() => decisions.getDecision(GET_DECISION, context), { timeout: 5_000 })
    .toBeDefined();
  expect(after.handled).toHaveLength(1);
});

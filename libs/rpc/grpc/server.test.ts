// What only gRPC has: raw bytes from callers that are not ours, and connections that come and go.
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { expect, onTestFinished, test } from 'vitest';
import { TokenSigner } from '../identity.ts';
import {
  REQUEST,
  refused,
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
  const world = await startTestService('grpc', { port });
  if (world.target.kind !== 'grpc') throw new Error('the world is not behind gRPC');
  return { ...world, address: world.target.address };
}

/** What a call of these bytes fails with. */
function findAccessFault(
  address: string,
  method: string,
  bytes: Buffer,
  headers: Record<string, string>,
) {
  const client = new Client(address, credentials.createInsecure());
  onTestFinished(() => client.close());
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  const same = (it: Buffer) => it;
  return new Promise<ServiceError | null>((resolve) => {
    client.makeUnaryRequest(`${SERVICE}/${method}`, same, same, bytes, metadata, resolve);
  });
}

test('bytes that are no message are refused, to a known caller alone', async () => {
  const { address, handled } = await open();
  const garbage = Buffer.from([0xff, 0xff, 0xff]);
  const known = { authorization: `Bearer ${token}` };
  expect(await findAccessFault(address, 'GetDecision', garbage, {})).toMatchObject({
    code: status.UNAUTHENTICATED,
  });
  expect(await findAccessFault(address, 'GetDecision', garbage, known)).toMatchObject({
    code: status.INVALID_ARGUMENT,
    details: 'the request cannot be decoded',
  });
  expect(handled).toEqual([]);
});

test('a method that no service has is not implemented', async () => {
  const { address } = await open();
  expect(await findAccessFault(address, 'Nothing', Buffer.alloc(0), {})).toMatchObject({
    code: status.UNIMPLEMENTED,
  });
});

test('a client finds its peer again after a restart', async () => {
  const before = await open();
  const { decisions, address } = before;
  const context = { identity: TEST_INTEGRATION };
  await decisions.getDecision(REQUEST, context);
  await before.closeServer();
  const record = { ...REQUEST, decision: { decision: 1 } };
  const away = await refused(decisions.recordDecision(record, context));
  expect(away).toMatchObject({ kind: 'unavailable', retryAfterS: 1 });

  const after = await open(Number(address.split(':')[1]));
  await expect
    .poll(() => decisions.getDecision(REQUEST, context), { timeout: 5_000 })
    .toBeDefined();
  expect(after.handled).toHaveLength(1);
});

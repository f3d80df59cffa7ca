// What only the gRPC mount has: encoded messages from any client, and connections that end.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { findFreePorts } from '@creditlane/supervision/free-ports';
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { TokenSigner, TokenVerifier } from '../identity.ts';
import {
  faultOf,
  GET_DECISION,
  startTestService,
  TEST_INTEGRATION,
  TEST_KEYS,
  type TestServiceOptions,
} from '../test-service.ts';

const SERVICE = '/creditlane.decisions.v1.DecisionsService';
const { privateKey } = TEST_KEYS.gateway;
const token = await new TokenSigner({ issuer: 'gateway', privateKey }).sign(
  'decisions',
  TEST_INTEGRATION,
);

async function open(port = 0, options: TestServiceOptions = {}) {
  const server = await startTestService('grpc', { ...options, port });
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

test('a call that is cancelled while its token is verified is reported as cancelled', async () => {
  const { decisions, handled, logged } = await open();
  const context = { identity: TEST_INTEGRATION };
  await decisions.getDecision(GET_DECISION, context);
  const [asked, verified] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { verify } = TokenVerifier.prototype;
  const spy = vi.spyOn(TokenVerifier.prototype, 'verify');
  onTestFinished(() => spy.mockRestore());
  spy.mockImplementationOnce(async function (this: TokenVerifier, token) {
    asked.resolve();
    await verified.promise;
    return verify.call(this, token);
  });
  const abort = new AbortController();
  const fault = faultOf(decisions.getDecision(GET_DECISION, { ...context, signal: abort.signal }));
  await asked.promise;
  abort.abort();
  expect(await fault).toMatchObject({ kind: 'cancelled' });
  // On the same connection: the cancellation has arrived before this call.
  await decisions.getDecision(GET_DECISION, context);
  verified.resolve();
  await expect.poll(() => logged().map(({ code }) => code)).toEqual(['ok', 'ok', 'cancelled']);
  expect(handled).toHaveLength(2);
});

test('an unknown method: UNIMPLEMENTED', async () => {
  const { address } = await open();
  expect(await callWithBytes(address, 'Nothing', Buffer.alloc(0), {})).toMatchObject({
    code: status.UNIMPLEMENTED,
  });
});

test('after a restart of the server its client reconnects', async () => {
  // The system gives none of these ports to a program that asks for any, so that none takes it while the server is away.
  const [port = 0] = await findFreePorts(1);
  const before = await open(port);
  const { decisions } = before;
  const context = { identity: TEST_INTEGRATION };
  await decisions.getDecision(GET_DECISION, context);
  await before.closeServer();
  const record = { ...GET_DECISION, decision: { decision: 1 } };
  const away = await faultOf(decisions.recordDecision(record, context));
  expect(away).toMatchObject({ kind: 'unavailable', retryAfterS: 1 });

  const after = await open(port);
  await expect.poll(() => decisions.getDecision(GET_DECISION, context)).toBeDefined();
  expect(after.handled).toHaveLength(1);
});

describe('a connection', () => {
  /** A connection that sends these bytes and no others. */
  function openSocket(port: number, bytes = ''): Socket {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    onTestFinished(() => void socket.destroy());
    socket.resume().write(bytes);
    return socket;
  }
  const portOf = (address: string) => Number(address.split(':')[1]);

  test.each([
    ['nothing', ''],
    ['only the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ])('whose client sends %s is cut', async (_, bytes) => {
    const timeouts = { headMs: 100, requestMs: 200, unreadMs: 100 };
    const { address } = await open(0, { timeouts });
    await once(openSocket(portOf(address), bytes), 'close');
  });

  test('that made no call is closed in favour of a new one, and one that made a call is not', async () => {
    const { address, decisions } = await open(0, { maxConnections: 3 });
    await decisions.getDecision(GET_DECISION, { identity: TEST_INTEGRATION });
    const sockets: Socket[] = [];
    for (let index = 0; index < 6; index += 1) {
      const socket = openSocket(portOf(address));
      await once(socket, 'connect');
      sockets.push(socket);
    }
    const closed = () => sockets.map(({ destroyed }) => destroyed);
    await expect.poll(closed).toEqual([true, true, true, true, false, false]);
    await decisions.getDecision(GET_DECISION, { identity: TEST_INTEGRATION });
  });
});

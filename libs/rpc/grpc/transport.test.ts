// What a peer sends that our own server never does.
import { Code } from '@connectrpc/connect';
import { DecisionsService } from '@creditlane/proto/decisions/v1/decisions_service';
import {
  Metadata,
  Server,
  ServerCredentials,
  type ServerWritableStream,
  status,
} from '@grpc/grpc-js';
import { expect, onTestFinished, test } from 'vitest';
import { rawDefinition } from './definition.ts';
import { openGrpcTransport } from './transport.ts';

type Stream = ServerWritableStream<Buffer, Buffer>;

/** A transport to a server that answers GetDecision by `answer`. */
async function openTransport(answer: (call: Stream) => void) {
  const server = new Server();
  const { getDecision } = DecisionsService.method;
  const path = `/${DecisionsService.typeName}/${getDecision.name}`;
  const definition = { ...rawDefinition(path), responseStream: true };
  server.addService({ [getDecision.name]: definition }, { [getDecision.name]: answer });
  const port = await new Promise<number>((resolve, reject) => {
    const credentials = ServerCredentials.createInsecure();
    server.bindAsync('127.0.0.1:0', credentials, (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  const opened = openGrpcTransport(`127.0.0.1:${port}`);
  onTestFinished(() => {
    opened.close();
    server.forceShutdown();
  });
  return { call: () => opened.unary(getDecision, undefined, 10_000, {}, {}) };
}

test('an answer without a message fails the call as an internal error', async () => {
  const { call } = await openTransport((stream) => stream.end());
  await expect(call()).rejects.toMatchObject({ code: Code.Internal });
});

test('a status whose details cannot be decoded fails the call as lost data', async () => {
  const metadata = new Metadata();
  metadata.set('grpc-status-details-bin', Buffer.from([0xff, 0xff, 0xff]));
  const { call } = await openTransport((stream) => {
    stream.emit('error', { code: status.ABORTED, details: 'refused', metadata });
  });
  await expect(call()).rejects.toMatchObject({ code: Code.DataLoss });
});

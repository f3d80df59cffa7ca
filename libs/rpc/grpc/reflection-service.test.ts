// grpc.reflection, which is served only where the configuration enables it.
import { create, createFileRegistry, fromBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { DecisionsService } from '@creditlane/proto/decisions/v1/decisions_service';
import {
  ServerReflection,
  type ServerReflectionRequest,
  type ServerReflectionResponse,
} from '@creditlane/proto/grpc/reflection/v1/reflection';
import { expect, test } from 'vitest';
import { connectPlainClient } from './test-plain-client.ts';
import { startTestReplica } from './test-replica.ts';

type Request = Pick<ServerReflectionRequest, 'messageRequest'>['messageRequest'];

/** Sends the requests over one stream, and returns the answers in order. */
async function reflect(
  messageRequests: Request[],
  options: { reflection: boolean } = { reflection: true },
) {
  const { port } = await startTestReplica(options);
  const requests = messageRequests.map((messageRequest) => ({ messageRequest }));
  const stream = connectPlainClient(ServerReflection, port).serverReflectionInfo(
    (async function* () {
      yield* requests;
    })(),
  );
  const answers: ServerReflectionResponse['messageResponse'][] = [];
  for await (const { messageResponse } of stream) answers.push(messageResponse);
  return answers;
}

/** The descriptors in an answer, read as a tool reads them. */
function registryOf(answer: ServerReflectionResponse['messageResponse'] | undefined) {
  if (answer?.case !== 'fileDescriptorResponse') throw new Error(`answered with ${answer?.case}`);
  const file = answer.value.fileDescriptorProto.map((it) =>
    fromBinary(FileDescriptorProtoSchema, it),
  );
  return createFileRegistry(create(FileDescriptorSetSchema, { file }));
}

test('a tool without descriptors gets the services and the messages of their methods', async () => {
  const [services, file] = await reflect([
    { case: 'listServices', value: '' },
    { case: 'fileContainingSymbol', value: DecisionsService.typeName },
  ]);
  expect(services?.value).toMatchObject({
    service: [{ name: DecisionsService.typeName }, { name: ServerReflection.typeName }],
  });
  const registry = registryOf(file);
  const service = registry.getService(DecisionsService.typeName);
  expect(service?.method.recordDecision?.input.fields.map(({ name }) => name)).toEqual(
    DecisionsService.method.recordDecision.input.fields.map(({ name }) => name),
  );
});

test('files are found by path, symbol and extension', async () => {
  const path = 'creditlane/common/v1/access.proto';
  const answers = await reflect([
    { case: 'fileByFilename', value: path },
    { case: 'fileContainingSymbol', value: 'creditlane.common.v1.Access.peers' },
    {
      case: 'fileContainingExtension',
      value: {
        $typeName: 'grpc.reflection.v1.ExtensionRequest',
        containingType: 'google.protobuf.MethodOptions',
        extensionNumber: 50001,
      },
    },
  ]);
  expect(answers).toHaveLength(3);
  for (const answer of answers) expect(registryOf(answer).getFile(path)).toBeDefined();
});

test('the message of fault details is found', async () => {
  const name = 'creditlane.common.v1.FaultInfo';
  const [answer] = await reflect([{ case: 'fileContainingSymbol', value: name }]);
  expect(registryOf(answer).getMessage(name)).toBeDefined();
});

test('the extension numbers of a message are listed', async () => {
  const [answer] = await reflect([
    { case: 'allExtensionNumbersOfType', value: 'google.protobuf.MethodOptions' },
  ]);
  expect(answer?.value).toMatchObject({ extensionNumber: expect.arrayContaining([50001, 50002]) });
});

test('an unknown file, symbol or request gets an error, and the stream goes on', async () => {
  const answers = await reflect([
    { case: 'fileByFilename', value: 'nothing.proto' },
    { case: 'fileContainingSymbol', value: 'unknown.Message' },
    { case: 'allExtensionNumbersOfType', value: 'unknown.Message' },
    { case: undefined },
    { case: 'listServices', value: '*' },
  ]);
  const codes = answers.map(({ value }) => value && 'errorCode' in value && value.errorCode);
  expect(codes).toEqual([Code.NotFound, Code.NotFound, Code.NotFound, Code.InvalidArgument, false]);
});

test('without the setting: UNIMPLEMENTED', async () => {
  const answers = reflect([{ case: 'listServices', value: '' }], { reflection: false });
  await expect(answers).rejects.toMatchObject({ code: Code.Unimplemented });
});

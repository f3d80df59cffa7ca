// What tools learn by grpc.reflection, and that only configuration lets them ask.
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

type Question = Pick<ServerReflectionRequest, 'messageRequest'>['messageRequest'];

/** Asks over one stream, and gives the answers in their order. */
async function ask(questions: Question[], options: { reflection: boolean } = { reflection: true }) {
  const { port } = await startTestReplica(options);
  const requests = questions.map((messageRequest) => ({ messageRequest }));
  const stream = connectPlainClient(ServerReflection, port).serverReflectionInfo(
    (async function* () {
      yield* requests;
    })(),
  );
  const answers: ServerReflectionResponse['messageResponse'][] = [];
  for await (const { messageResponse } of stream) answers.push(messageResponse);
  return answers;
}

/** What a tool would make of the files in an answer. */
function registryOf(answer: ServerReflectionResponse['messageResponse'] | undefined) {
  if (answer?.case !== 'fileDescriptorResponse') throw new Error(`answered with ${answer?.case}`);
  const file = answer.value.fileDescriptorProto.map((it) =>
    fromBinary(FileDescriptorProtoSchema, it),
  );
  return createFileRegistry(create(FileDescriptorSetSchema, { file }));
}

test('a tool that knows nothing learns the services and all that their calls are made of', async () => {
  const [services, file] = await ask([
    { case: 'listServices', value: '' },
    { case: 'fileContainingSymbol', value: DecisionsService.typeName },
  ]);
  expect(services?.value).toMatchObject({
    service: [{ name: DecisionsService.typeName }, { name: ServerReflection.typeName }],
  });
  const registry = registryOf(file);
  const learned = registry.getService(DecisionsService.typeName);
  expect(learned?.method.recordDecision?.input.fields.map(({ name }) => name)).toEqual(
    DecisionsService.method.recordDecision.input.fields.map(({ name }) => name),
  );
});

test('files are found by their path, and by what is in them', async () => {
  const path = 'creditlane/common/v1/access.proto';
  const answers = await ask([
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

test('the message that refusals carry is known', async () => {
  const name = 'creditlane.common.v1.FaultInfo';
  const [answer] = await ask([{ case: 'fileContainingSymbol', value: name }]);
  expect(registryOf(answer).getMessage(name)).toBeDefined();
});

test('a message’s extensions are counted up', async () => {
  const [answer] = await ask([
    { case: 'allExtensionNumbersOfType', value: 'google.protobuf.MethodOptions' },
  ]);
  expect(answer?.value).toMatchObject({ extensionNumber: expect.arrayContaining([50001, 50002]) });
});

test('what is not known is said to be so, and the asking goes on', async () => {
  const answers = await ask([
    { case: 'fileByFilename', value: 'nothing.proto' },
    { case: 'fileContainingSymbol', value: 'nobody.Knows' },
    { case: 'allExtensionNumbersOfType', value: 'nobody.Knows' },
    { case: undefined },
    { case: 'listServices', value: '*' },
  ]);
  const codes = answers.map(({ value }) => value && 'errorCode' in value && value.errorCode);
  expect(codes).toEqual([Code.NotFound, Code.NotFound, Code.NotFound, Code.InvalidArgument, false]);
});

test('nobody learns anything where configuration does not say so', async () => {
  const asked = ask([{ case: 'listServices', value: '' }], { reflection: false });
  await expect(asked).rejects.toMatchObject({ code: Code.Unimplemented });
});

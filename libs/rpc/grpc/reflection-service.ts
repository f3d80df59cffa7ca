/**
 * grpc.reflection: tells tools such as grpcurl what a server serves. Whoever reaches the port may
 * ask, without a token; it shows contracts, never data, and only where configuration says so.
 */
import {
  create,
  type DescFile,
  type DescService,
  type MessageInitShape,
  toBinary,
} from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { file_creditlane_common_v1_fault } from '@creditlane/proto/common/v1/fault';
import {
  ServerReflection,
  type ServerReflectionRequest,
  type ServerReflectionResponse,
  ServerReflectionResponseSchema,
} from '@creditlane/proto/grpc/reflection/v1/reflection';
import type { Server, ServerDuplexStream } from '@grpc/grpc-js';
import { status } from '@grpc/grpc-js';
import { definitionOf } from './definition.ts';
import { DescriptorIndex, withImports } from './descriptor-index.ts';

type Answer = MessageInitShape<typeof ServerReflectionResponseSchema>['messageResponse'];
type Stream = ServerDuplexStream<ServerReflectionRequest, ServerReflectionResponse>;

/** Older tools know the protocol by the name it had at first. */
const NAME_AT_FIRST = 'grpc.reflection.v1alpha.ServerReflection';

/** Adds reflection to a server of these services. Tools can read their refusals, too. */
export function addReflectionService(server: Server, services: readonly DescService[]): void {
  const catalogue = new DescriptorIndex(
    [...services, ServerReflection],
    [file_creditlane_common_v1_fault],
  );
  const definition = definitionOf(ServerReflection).ServerReflectionInfo;
  if (definition === undefined) throw new Error('the reflection protocol has lost its method');

  const ServerReflectionInfo = (stream: Stream) => {
    stream.on('data', (originalRequest: ServerReflectionRequest) => {
      const messageResponse = answer(catalogue, originalRequest.messageRequest);
      const validHost = originalRequest.host;
      stream.write(
        create(ServerReflectionResponseSchema, { validHost, originalRequest, messageResponse }),
      );
    });
    stream.on('end', () => stream.end());
  };
  for (const name of [ServerReflection.typeName, NAME_AT_FIRST]) {
    const path = `/${name}/ServerReflectionInfo`;
    server.addService({ ServerReflectionInfo: { ...definition, path } }, { ServerReflectionInfo });
  }
}

function answer(
  catalogue: DescriptorIndex,
  question: ServerReflectionRequest['messageRequest'],
): NonNullable<Answer> {
  switch (question.case) {
    case 'listServices': {
      const service = catalogue.services.map((name) => ({ name }));
      return { case: 'listServicesResponse', value: { service } };
    }
    case 'fileByFilename':
      return fileAnswer(catalogue.fileNamed(question.value));
    case 'fileContainingSymbol':
      return fileAnswer(catalogue.fileWith(question.value));
    case 'fileContainingExtension': {
      const { containingType, extensionNumber } = question.value;
      const extensions = catalogue.extensionsOf(containingType) ?? [];
      return fileAnswer(extensions.find(({ number }) => number === extensionNumber)?.file);
    }
    case 'allExtensionNumbersOfType': {
      const extensions = catalogue.extensionsOf(question.value);
      if (extensions === undefined) return refusal(status.NOT_FOUND, 'not known here');
      const extensionNumber = extensions.map(({ number }) => number);
      const value = { baseTypeName: question.value, extensionNumber };
      return { case: 'allExtensionNumbersResponse', value };
    }
    default:
      return refusal(status.INVALID_ARGUMENT, 'the request asks nothing that is known');
  }
}

/** The file with all it imports, so that a tool need not ask again for each. */
function fileAnswer(file: DescFile | undefined): NonNullable<Answer> {
  if (file === undefined) return refusal(status.NOT_FOUND, 'not known here');
  const fileDescriptorProto = [...withImports([file])].map(({ proto }) =>
    toBinary(FileDescriptorProtoSchema, proto),
  );
  return { case: 'fileDescriptorResponse', value: { fileDescriptorProto } };
}

function refusal(errorCode: number, errorMessage: string): NonNullable<Answer> {
  return { case: 'errorResponse', value: { errorCode, errorMessage } };
}

/**
 * grpc.reflection: describes the services of a server to tools such as grpcurl. It requires no token,
 * answers with contracts and never with data, and is served only where the configuration enables it.
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

/** The first name of the protocol, which older tools use. */
const ALPHA_NAME = 'grpc.reflection.v1alpha.ServerReflection';

/** Adds reflection of these services, and of the fault messages in their errors, to a server. */
export function addReflectionService(server: Server, services: readonly DescService[]): void {
  const index = new DescriptorIndex(
    [...services, ServerReflection],
    [file_creditlane_common_v1_fault],
  );
  const definition = definitionOf(ServerReflection).ServerReflectionInfo;
  if (definition === undefined)
    throw new Error('the reflection proto declares no ServerReflectionInfo');

  const ServerReflectionInfo = (stream: Stream) => {
    stream.on('data', (originalRequest: ServerReflectionRequest) => {
      const messageResponse = answer(index, originalRequest.messageRequest);
      const validHost = originalRequest.host;
      stream.write(
        create(ServerReflectionResponseSchema, { validHost, originalRequest, messageResponse }),
      );
    });
    stream.on('end', () => stream.end());
  };
  for (const name of [ServerReflection.typeName, ALPHA_NAME]) {
    const path = `/${name}/ServerReflectionInfo`;
    server.addService({ ServerReflectionInfo: { ...definition, path } }, { ServerReflectionInfo });
  }
}

function answer(
  index: DescriptorIndex,
  request: ServerReflectionRequest['messageRequest'],
): NonNullable<Answer> {
  switch (request.case) {
    case 'listServices': {
      const service = index.services.map((name) => ({ name }));
      return { case: 'listServicesResponse', value: { service } };
    }
    case 'fileByFilename':
      return fileAnswer(index.findFile(request.value));
    case 'fileContainingSymbol':
      return fileAnswer(index.findFileOfSymbol(request.value));
    case 'fileContainingExtension': {
      const { containingType, extensionNumber } = request.value;
      const extensions = index.findExtensions(containingType) ?? [];
      return fileAnswer(extensions.find(({ number }) => number === extensionNumber)?.file);
    }
    case 'allExtensionNumbersOfType': {
      const extensions = index.findExtensions(request.value);
      if (extensions === undefined) return errorAnswer(status.NOT_FOUND, 'not served here');
      const extensionNumber = extensions.map(({ number }) => number);
      const value = { baseTypeName: request.value, extensionNumber };
      return { case: 'allExtensionNumbersResponse', value };
    }
    default:
      return errorAnswer(status.INVALID_ARGUMENT, 'the request has no known field');
  }
}

/** The file with everything it imports, so that a tool needs no further request for each import. */
function fileAnswer(file: DescFile | undefined): NonNullable<Answer> {
  if (file === undefined) return errorAnswer(status.NOT_FOUND, 'not served here');
  const fileDescriptorProto = [...withImports([file])].map(({ proto }) =>
    toBinary(FileDescriptorProtoSchema, proto),
  );
  return { case: 'fileDescriptorResponse', value: { fileDescriptorProto } };
}

function errorAnswer(errorCode: number, errorMessage: string): NonNullable<Answer> {
  return { case: 'errorResponse', value: { errorCode, errorMessage } };
}

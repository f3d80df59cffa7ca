/** The form in which grpc-js wants to hear of a service, read off its descriptor. */
import {
  type DescService,
  fromBinary,
  type Message,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';

/** A view of the bytes, not a copy. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Every method of a service, streaming or not, for handlers of decoded messages. */
export function definitionOf(service: DescService): ServiceDefinition {
  const methods = service.methods.map(({ name, methodKind, input, output }) => {
    const definition: MethodDefinition<Message, Message> = {
      path: `/${service.typeName}/${name}`,
      requestStream: methodKind === 'client_streaming' || methodKind === 'bidi_streaming',
      responseStream: methodKind === 'server_streaming' || methodKind === 'bidi_streaming',
      requestSerialize: (message) =>
        bufferOf(toBinary(input, message as MessageShape<typeof input>)),
      requestDeserialize: (bytes) => fromBinary(input, bytes),
      responseSerialize: (message) =>
        bufferOf(toBinary(output, message as MessageShape<typeof output>)),
      responseDeserialize: (bytes) => fromBinary(output, bytes),
    };
    return [name, definition] as const;
  });
  return Object.fromEntries(methods);
}

/** The path of one method, for handlers of bytes as they are. */
export function bytesAt(path: string): MethodDefinition<Buffer, Buffer> {
  const same = (bytes: Buffer) => bytes;
  return {
    path,
    requestStream: false,
    responseStream: false,
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  };
}

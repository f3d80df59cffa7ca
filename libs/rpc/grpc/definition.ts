/** Service definitions in the form of grpc-js, derived from protobuf descriptors. */
import {
  type DescService,
  fromBinary,
  type Message,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';

/** A Buffer over the same memory; nothing is copied. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** All methods of a service, streaming ones included, for handlers of decoded messages. */
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

/** One unary method for handlers of encoded messages: grpc-js passes the bytes through. */
export function rawDefinition(path: string): MethodDefinition<Buffer, Buffer> {
  const passThrough = (bytes: Buffer) => bytes;
  return {
    path,
    requestStream: false,
    responseStream: false,
    requestSerialize: passThrough,
    requestDeserialize: passThrough,
    responseSerialize: passThrough,
    responseDeserialize: passThrough,
  };
}

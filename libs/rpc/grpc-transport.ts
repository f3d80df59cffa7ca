/** The client's side of gRPC between services, by grpc-js. */
import {
  create,
  type DescMessage,
  type DescMethodUnary,
  type DescService,
  fromBinary,
  type MessageInitShape,
  toBinary,
} from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel as IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, type UnaryResponse } from '@connectrpc/connect';
import { Client, type ClientUnaryCall, credentials, Metadata } from '@grpc/grpc-js';
import { connectErrorOf } from './grpc-status.ts';
import { READ_MAX_BYTES } from './mount.ts';
import type { OpenTransport } from './target.ts';

type HeadersInit = ConstructorParameters<typeof Headers>[0];

/**
 * A transport to the service behind `address` ("host:port"); calls go round all the addresses that
 * its name has. Connects at the first call.
 */
export function openGrpcTransport(address: string, service: DescService): OpenTransport {
  const client = new Client(address, credentials.createInsecure(), {
    'grpc.service_config': JSON.stringify(serviceConfig(service)),
    // The name server is asked for addresses only, not for TXT records with a service's config.
    'grpc.service_config_disable_resolution': 1,
    'grpc.max_receive_message_length': READ_MAX_BYTES,
    // A restarted peer is found again within a second or two.
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 2_000,
    'grpc.keepalive_time_ms': 30_000,
    'grpc.keepalive_timeout_ms': 10_000,
  });

  function unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    header: HeadersInit | undefined,
    input: MessageInitShape<I>,
  ): Promise<UnaryResponse<I, O>> {
    return new Promise((resolve, reject) => {
      let answered = new Headers();
      let call: ClientUnaryCall | undefined;
      const cancel = () => call?.cancel();
      call = client.makeUnaryRequest(
        `/${method.parent.typeName}/${method.name}`,
        (request: MessageInitShape<I>) =>
          bufferOf(toBinary(method.input, create(method.input, request))),
        (bytes: Buffer) => fromBinary(method.output, bytes),
        input,
        metadataOf(header),
        timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs },
        (error, message) => {
          signal?.removeEventListener('abort', cancel);
          if (error !== null) reject(connectErrorOf(error));
          else if (message === undefined) reject(new ConnectError('no answer', Code.Internal));
          else {
            const trailer = new Headers();
            resolve({
              stream: false,
              service: method.parent,
              method,
              header: answered,
              trailer,
              message,
            });
          }
        },
      );
      call.on('metadata', (metadata: Metadata) => {
        answered = headersOf(metadata);
      });
      signal?.addEventListener('abort', cancel, { once: true });
    });
  }

  return {
    transport: {
      unary,
      stream: async () => {
        throw new ConnectError('streams are not carried', Code.Unimplemented);
      },
    },
    close: () => client.close(),
  };
}

/** Only what may safely happen twice is tried again when a peer is away. */
function serviceConfig(service: DescService): object {
  const repeatable = service.methods
    .filter((method) => method.idempotency !== IdempotencyLevel.IDEMPOTENCY_UNKNOWN)
    .map((method) => ({ service: service.typeName, method: method.name }));
  const retryPolicy = {
    maxAttempts: 3,
    initialBackoff: '0.05s',
    maxBackoff: '1s',
    backoffMultiplier: 3,
    retryableStatusCodes: ['UNAVAILABLE'],
  };
  return {
    loadBalancingConfig: [{ round_robin: {} }],
    methodConfig: repeatable.length === 0 ? [] : [{ name: repeatable, retryPolicy }],
  };
}

function metadataOf(header: HeadersInit | undefined): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of new Headers(header)) metadata.set(name, value);
  return metadata;
}

function headersOf(metadata: Metadata): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(metadata.getMap())) {
    if (typeof value === 'string') headers.set(name, value);
  }
  return headers;
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

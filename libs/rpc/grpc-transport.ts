/** The client's side of gRPC between services, by grpc-js. */
import { create, type DescService, fromBinary, toBinary } from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel as IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import { type CallOptions, Client, credentials, Metadata } from '@grpc/grpc-js';
import { connectErrorOf } from './grpc-status.ts';
import { READ_MAX_BYTES } from './mount.ts';
import type { OpenTransport } from './target.ts';
import { type UnaryCall, unaryTransport } from './unary-transport.ts';

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

  const unary: UnaryCall = async (method, signal, timeoutMs, header, input) => {
    const exchange = await send(client, signal, {
      path: `/${method.parent.typeName}/${method.name}`,
      bytes: bufferOf(toBinary(method.input, create(method.input, input))),
      metadata: metadataOf(header),
      options: timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs },
    });
    return {
      stream: false,
      service: method.parent,
      method,
      header: headersOf(exchange.metadata),
      trailer: new Headers(),
      message: fromBinary(method.output, exchange.bytes),
    };
  };

  return { transport: unaryTransport(unary), close: () => client.close() };
}

type Request = { path: string; bytes: Buffer; metadata: Metadata; options: CallOptions };

/** One call of bytes. Rejects with a ConnectError; `signal` gives the call up. */
function send(
  client: Client,
  signal: AbortSignal | undefined,
  { path, bytes, metadata, options }: Request,
): Promise<{ bytes: Buffer; metadata: Metadata }> {
  return new Promise((resolve, reject) => {
    let received = new Metadata();
    const call = client.makeUnaryRequest<Buffer, Buffer>(
      path,
      asTheyAre,
      asTheyAre,
      bytes,
      metadata,
      options,
      (error, answer) => {
        signal?.removeEventListener('abort', giveUp);
        if (error !== null) reject(connectErrorOf(error));
        else resolve({ bytes: answer ?? Buffer.alloc(0), metadata: received });
      },
    );
    const giveUp = () => call.cancel();
    signal?.addEventListener('abort', giveUp, { once: true });
    call.on('metadata', (metadata: Metadata) => {
      received = metadata;
    });
  });
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

function metadataOf(header: Parameters<UnaryCall>[3]): Metadata {
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

/** The messages are encoded outside grpc-js, where a failure to do so has a place to go. */
function asTheyAre(bytes: Buffer): Buffer {
  return bytes;
}

/** A view, not a copy. */
function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

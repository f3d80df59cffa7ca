/** The client side of gRPC between services, by grpc-js. */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import {
  type CallOptions,
  type ChannelCredentials,
  type ChannelOptions,
  Client,
  credentials,
  experimental,
  Metadata,
} from '@grpc/grpc-js';
import type { Certificates } from '../credentials/certificates.ts';
import { cancelled } from '../fault.ts';
import { MAX_ANSWER_BYTES } from '../server-options.ts';
import {
  type CallHeader,
  type OpenedTransport,
  type UnaryCall,
  unaryTransport,
} from '../transport.ts';
import { Connectivity } from './connectivity.ts';
import { bufferOf } from './definition.ts';
import { connectErrorOf } from './status.ts';

/**
 * The same for every channel, because grpc-js shares a connection among channels with the same address
 * and options only. Calls fail at once while the peer is unreachable, unless it was lost a moment ago; `retrying` sends
 * again those that the loss has failed.
 */
const CHANNEL_OPTIONS: ChannelOptions = {
  // Statistics of each call, stream and message that nothing reads.
  'grpc.enable_channelz': 0,
  'grpc.service_config': JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
  // DNS is queried for addresses only, not for TXT records with a service config.
  'grpc.service_config_disable_resolution': 1,
  // DNS is queried again whenever a connection ends, so the maximum age of connections bounds how long
  // a new replica stays unknown.
  'grpc.dns_min_time_between_resolutions_ms': 1_000,
  'grpc.max_receive_message_length': MAX_ANSWER_BYTES,
  // A client reconnects within about half a second to a peer that was restarted at the same address, and to one at another
  // address after the next DNS query.
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 500,
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
};

/**
 * A transport to the service at `address`: "host:port", whose name may resolve to several addresses, or
 * "ipv4:1.2.3.4:5,1.2.3.5:5". Calls use all addresses in turn. Connects at the first call.
 */
export function openGrpcTransport(address: string, certificates?: Certificates): OpenedTransport {
  const client = new Client(address, credentialsOf(certificates), CHANNEL_OPTIONS);
  const connectivity = new Connectivity(client.getChannel());
  let isClosed = false;

  const unary: UnaryCall = async (method, signal, timeoutMs, header, input) => {
    const endMs = timeoutMs === undefined ? undefined : Date.now() + timeoutMs;
    if (!connectivity.isConnected) {
      // Of half of the call's time, so that the call fails as unavailable, which it is, and not at its deadline.
      await connectivity.returned((timeoutMs ?? Infinity) / 2, signal);
      if (signal?.aborted) throw cancelled();
      if (isClosed) throw new ConnectError('the client is closed', Code.Unavailable);
    }
    const exchange = await send(client, signal, {
      path: `/${method.parent.typeName}/${method.name}`,
      bytes: bufferOf(toBinary(method.input, create(method.input, input))),
      metadata: metadataOf(header),
      options: endMs === undefined ? {} : { deadline: endMs },
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

  return {
    transport: unaryTransport(unary),
    close() {
      isClosed = true;
      client.close();
    },
    reachable: () => connectivity.isReachable(),
  };
}

function credentialsOf(certificates: Certificates | undefined): ChannelCredentials {
  if (certificates === undefined) return credentials.createInsecure();
  const { createCertificateProviderChannelCredentials } = experimental;
  return createCertificateProviderChannelCredentials(certificates, certificates, {});
}

type Request = { path: string; bytes: Buffer; metadata: Metadata; options: CallOptions };

/** Sends one encoded request. Rejects with a ConnectError; `signal` cancels the call. */
function send(
  client: Client,
  signal: AbortSignal | undefined,
  { path, bytes, metadata, options }: Request,
): Promise<{ bytes: Buffer; metadata: Metadata }> {
  return new Promise((resolve, reject) => {
    let received = new Metadata();
    const call = client.makeUnaryRequest<Buffer, Buffer>(
      path,
      passThrough,
      passThrough,
      bytes,
      metadata,
      options,
      (error, answer) => {
        signal?.removeEventListener('abort', cancel);
        if (error !== null) reject(connectErrorOf(error, signal?.aborted ?? false));
        else resolve({ bytes: answer ?? Buffer.alloc(0), metadata: received });
      },
    );
    const cancel = () => call.cancel();
    signal?.addEventListener('abort', cancel, { once: true });
    call.on('metadata', (metadata: Metadata) => {
      received = metadata;
    });
  });
}

function metadataOf(header: CallHeader): Metadata {
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

/** Messages are encoded before grpc-js gets them, so that an encoding error rejects the call. */
function passThrough(bytes: Buffer): Buffer {
  return bytes;
}

/** The client's side of gRPC between services, by grpc-js. */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  type CallOptions,
  type ChannelCredentials,
  type ChannelOptions,
  Client,
  connectivityState,
  credentials,
  experimental,
  Metadata,
} from '@grpc/grpc-js';
import type { Certificates } from '../credentials/certificates.ts';
import type { OpenedTransport } from '../endpoint.ts';
import { DEFAULT_MAX_MESSAGE_BYTES } from '../server-options.ts';
import { type UnaryCall, unaryTransport } from '../unary-transport.ts';
import { bufferOf } from './definition.ts';
import { connectErrorOf } from './status.ts';

/**
 * The same for every channel, so that channels to one address share its connection. Calls do not
 * wait for a peer to come: a caller who is told at once can do better than stand in a queue.
 */
const CHANNEL_OPTIONS: ChannelOptions = {
  'grpc.service_config': JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
  // The name server is asked for addresses only, not for TXT records with a service's config.
  'grpc.service_config_disable_resolution': 1,
  // New replicas are looked for whenever a connection ends, which their maximum age sees to.
  'grpc.dns_min_time_between_resolutions_ms': 1_000,
  'grpc.max_receive_message_length': DEFAULT_MAX_MESSAGE_BYTES,
  // A restarted peer is found again within a second or two.
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 2_000,
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
};

/**
 * A transport to the service behind `address`: "host:port", whose name may have many addresses, or
 * "ipv4:1.2.3.4:5,1.2.3.5:5". Calls go round all of them. Connects at the first call.
 */
export function openGrpcTransport(address: string, certificates?: Certificates): OpenedTransport {
  const client = new Client(address, credentialsOf(certificates), CHANNEL_OPTIONS);

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

  return {
    transport: unaryTransport(unary),
    close: () => client.close(),
    reachable: reachability(client),
  };
}

/**
 * What the channel's state says. A peer once reached stays so while its connection is merely renewed,
 * which happens at every connection's maximum age, until a connection has failed.
 */
function reachability(client: Client): () => boolean {
  const channel = client.getChannel();
  let reached = false;
  return () => {
    const state = channel.getConnectivityState(true);
    if (state === connectivityState.READY) reached = true;
    if (state === connectivityState.TRANSIENT_FAILURE) reached = false;
    return reached;
  };
}

function credentialsOf(certificates: Certificates | undefined): ChannelCredentials {
  if (certificates === undefined) return credentials.createInsecure();
  const { createCertificateProviderChannelCredentials } = experimental;
  return createCertificateProviderChannelCredentials(certificates, certificates, {});
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
        if (error !== null) reject(connectErrorOf(error, signal?.aborted ?? false));
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

/** The client with which a service calls another service in its own name. */
import type { DescService } from '@bufbuild/protobuf';
import { type CallContext, type Client, type ClientOptions, connect } from './client.ts';
import type { Endpoint } from './endpoint.ts';
import { serviceIdentity } from './identity.ts';

/** What a call passes on. A caller's identity is left behind: only the gateway may call in the name of others. */
export type OwnCallContext = Omit<CallContext, 'identity'>;

export type PeerClient<S extends DescService> = Client<S, OwnCallContext>;

export interface PeerClientOptions<Peer extends string>
  extends Omit<ClientOptions, 'audience' | 'timeoutMs'> {
  /** The endpoints of the called services, by name. */
  readonly endpoints: Readonly<Record<Peer, Endpoint>>;
}

/** A client of `service`, which the service of the name `peer` serves. Its calls are in the name of the signer's issuer. */
export function connectPeer<S extends DescService, Peer extends string>(
  service: S,
  peer: Peer,
  { endpoints, ...options }: PeerClientOptions<Peer>,
): PeerClient<S> {
  const client = connect(service, endpoints[peer], { ...options, audience: peer });
  const identity = serviceIdentity(options.signer.issuer);
  type Call = (request: object, context: CallContext) => Promise<unknown>;
  const methods = Object.entries(client as Record<string, Call>).map(([name, call]) => [
    name,
    (request: object, context: OwnCallContext) => call(request, { ...context, identity }),
  ]);
  return Object.fromEntries(methods) as PeerClient<S>;
}

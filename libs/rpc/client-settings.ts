/** The settings of a service that calls other services over gRPC: their addresses and its signing key. */

import { type Setting, setting } from '@creditlane/runtime/setting';
import { LoggableError } from '@creditlane/runtime/telemetry/loggable-error';
import { CERTIFICATES, type Certificates } from './credentials/certificates.ts';
import { readPrivateKey } from './credentials/identity-keys.ts';
import type { Endpoint } from './endpoint.ts';
import { TokenSigner } from './identity.ts';

export interface ClientSettings<Peer extends string> {
  endpoints: Record<Peer, Endpoint>;
  /** Signs the calls in the service's name. */
  signer: TokenSigner;
  /** For TLS; undefined for plain text. */
  certificates: Certificates | undefined;
}

const HOST_AND_PORT = /^(dns:\/\/\/)?[a-z\d]([a-z\d.-]*[a-z\d])?:\d{1,5}$/i;
const IPV4_AND_PORT = /^(\d{1,3}\.){3}\d{1,3}:\d{1,5}$/;

/** The environment variable with the address of a peer: `DECISIONS_ADDRESS` for decisions. */
export function addressVariable(peer: string): string {
  return `${peer.replaceAll('-', '_').toUpperCase()}_ADDRESS`;
}

/**
 * The settings of a service that calls others: for each peer its address, the service's own key, and
 * the files of its certificate.
 *
 * @param name the name of the service, which is the issuer of its tokens
 * @param defaults addresses of peers that need not be set
 */
export function clientSettings<const Peer extends string>(
  name: string,
  peers: readonly Peer[],
  defaults: Readonly<Record<string, string>> = {},
): Setting<ClientSettings<Peer>> {
  const addresses = peers.map((peer) => {
    const address = setting.parsed(addressVariable(peer), parseAddress, {
      type: '`host:port`, or `ip:port` separated by commas',
      ...(defaults[peer] && { default: defaults[peer] }),
      about: `The address of ${peer}: a name that resolves to all replicas, or the addresses of all replicas.`,
    });
    return [peer, address] as const;
  });
  const identityKey = setting.renewed(
    'IDENTITY_KEY',
    (text) => {
      readPrivateKey(text);
      return text;
    },
    {
      type: 'base64 of PKCS #8',
      secret: true,
      about: "The Ed25519 key that signs the service's own calls.",
    },
  );
  const { variables } = setting.all({
    ...Object.fromEntries(addresses),
    identityKey,
    CERTIFICATES,
  });
  return {
    variables,
    read(env) {
      const certificates = CERTIFICATES.read(env);
      const endpoints = addresses.map(([peer, address]) => [
        peer,
        { kind: 'grpc', address: address.read(env), certificates },
      ]);
      return {
        endpoints: Object.fromEntries(endpoints) as Record<Peer, Endpoint>,
        signer: signerOf(name, identityKey.read(env)),
        certificates,
      };
    },
  };
}

function signerOf(issuer: string, privateKey: () => string): TokenSigner {
  // After a problem with the variable, the key is a placeholder.
  return privateKey() === undefined
    ? (undefined as never)
    : new TokenSigner({ issuer, privateKey });
}

/** The address as grpc-js takes it. */
function parseAddress(text: string): string {
  const parts = text.split(',').map((part) => part.trim());
  if (parts.every((part) => IPV4_AND_PORT.test(part))) return `ipv4:${parts.join(',')}`;
  if (HOST_AND_PORT.test(text)) return text;
  throw new AddressError('must be host:port, or IPv4 addresses with ports separated by commas');
}

class AddressError extends LoggableError {}

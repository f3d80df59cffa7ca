/** A service's calls of others from a process of its own: where they are, and in whose name it asks. */
import type { EnvReader } from '@creditlane/runtime/env';
import { type Certificates, readCertificates } from './credentials/certificates.ts';
import type { Endpoint } from './endpoint.ts';
import { TokenSigner } from './identity.ts';

export interface Calling<Peer extends string> {
  peers: Record<Peer, Endpoint>;
  /** Signs the calls in the service's name. */
  signer: TokenSigner;
  /** What it shows to its peers and asks of them; plain text without. */
  certificates: Certificates | undefined;
}

const NAMED = /^(dns:\/\/\/)?[a-z\d]([a-z\d.-]*[a-z\d])?:\d{1,5}$/i;
const NUMBERED = /^(\d{1,3}\.){3}\d{1,3}:\d{1,5}$/;

/**
 * Reads `IDENTITY_KEY`, the certificates' files (see `readCertificates`) and for each peer its
 * address, such as `APPLICATIONS_ADDRESS`: "host:port", where the name has an address for each
 * replica, or "10.0.0.1:9000,10.0.0.2:9000". Calls go round all of them.
 *
 * @param name the service's own, as its tokens say it
 */
export function readCalling<const Peer extends string>(
  read: EnvReader,
  name: string,
  peers: readonly Peer[],
): Calling<Peer> {
  const certificates = readCertificates(read);
  const targets = peers.map((peer) => {
    const variable = `${peer.replaceAll('-', '_').toUpperCase()}_ADDRESS`;
    const address = read.parsed(variable, parseAddress);
    return [peer, { kind: 'grpc', address, certificates }] as const;
  });
  return {
    peers: Object.fromEntries(targets) as Record<Peer, Endpoint>,
    signer: read.parsed(
      'IDENTITY_KEY',
      (privateKey) => new TokenSigner({ issuer: name, privateKey }),
    ),
    certificates,
  };
}

/** The address as grpc-js takes it. */
function parseAddress(text: string): string {
  const numbers = text.split(',').map((part) => part.trim());
  if (numbers.every((part) => NUMBERED.test(part))) return `ipv4:${numbers.join(',')}`;
  if (NAMED.test(text)) return text;
  throw new AddressError('must be host:port, or IPv4 addresses with ports separated by commas');
}

class AddressError extends Error {
  override readonly name = 'AddressError';
  readonly loggable = true;
}

/** Where connections to PostgreSQL and Kafka may be unencrypted. */
import { isIP } from 'node:net';
import { setting } from './setting.ts';

export const ALLOW_PLAINTEXT = setting.boolean('ALLOW_PLAINTEXT', {
  default: false,
  about:
    'Whether connections to PostgreSQL and Kafka on other machines may be unencrypted, because the network encrypts or isolates them.',
});

/** Whether a connection to the host stays on this machine: `localhost`, a loopback address, or the folder of a Unix socket. */
export function isThisMachine(host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, '$1');
  if (isIP(address) === 4) return address.startsWith('127.');
  return address === '::1' || address === 'localhost' || address.startsWith('/');
}

import type { EnvReader } from '@creditlane/runtime/env';
import type { EgressPolicy } from './destination-url.ts';

const PORTS = [443, 8443];

/**
 * Reads what is allowed: `…_ALLOW_HTTP`, `…_ALLOW_LOOPBACK` and `…_PORTS`, numbers separated by
 * commas. Where URLs are taken it must be what is allowed where they are dialled.
 *
 * @param prefix how the variables begin, such as "EGRESS"
 */
export function readEgressPolicy(read: EnvReader, prefix: string): EgressPolicy {
  return {
    allowHttp: read.boolean(`${prefix}_ALLOW_HTTP`, false),
    allowLoopback: read.boolean(`${prefix}_ALLOW_LOOPBACK`, false),
    ports: read.parsed(`${prefix}_PORTS`, parsePorts, PORTS),
  };
}

function parsePorts(text: string): number[] {
  return text.split(',').map((item) => {
    const port = Number(item);
    if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new Error('not a port');
    return port;
  });
}

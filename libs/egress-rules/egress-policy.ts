import { refuse } from '@creditlane/runtime/env';
import { type Setting, setting } from '@creditlane/runtime/setting';
import type { EgressPolicy } from './destination-url.ts';

/**
 * The settings of an egress policy: `…_ALLOW_HTTP`, `…_ALLOW_LOOPBACK` and `…_PORTS`. The service that
 * registers URLs and the service that connects to them must have the same policy.
 *
 * @param prefix the first part of the names of the variables, such as "EGRESS"
 */
export function egressPolicySetting(prefix: string): Setting<EgressPolicy> {
  return setting.all({
    allowHttp: setting.boolean(`${prefix}_ALLOW_HTTP`, {
      default: false,
      about: 'Whether a destination may be plain http; only for development.',
    }),
    allowLoopback: setting.boolean(`${prefix}_ALLOW_LOOPBACK`, {
      default: false,
      about: 'Whether a destination may be this machine; only for development.',
    }),
    ports: setting.parsed(`${prefix}_PORTS`, parsePorts, {
      type: 'ports separated by commas',
      default: '443,8443',
      about: 'The ports that a destination may have.',
    }),
  });
}

function parsePorts(text: string): number[] {
  return text.split(',').map((item) => {
    const port = Number(item);
    const isPort = Number.isInteger(port) && port >= 1 && port <= 65_535;
    return isPort ? port : refuse('ports from 1 to 65535, separated by commas');
  });
}

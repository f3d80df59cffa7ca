/** The settings of the bureaus: how inquiries are sent, and where to. */
import { egressPolicySetting } from '@creditlane/egress-rules/egress-policy';
import { setting } from '@creditlane/runtime/setting';

export const BUREAU_SETTINGS = {
  egress: egressPolicySetting('BUREAU'),
  hosts: setting.parsed('BUREAU_HOSTS', parseHosts, {
    type: 'host names separated by commas',
    default: '',
    about:
      'The hosts that credentials may name, which may have private addresses; if empty, any public host.',
  }),
  deadlineMs: setting.durationMs('BUREAU_DEADLINE', {
    default: '20s',
    min: '1s',
    max: '120s',
    about: 'How long a whole inquiry may take; in half of it, it must have been sent.',
  }),
  maxConnections: setting.integer('BUREAU_CONNECTIONS', {
    default: 16,
    min: 1,
    max: 256,
    about: 'The most connections of one process to one base URL of a bureau.',
  }),
};

function parseHosts(text: string): string[] {
  const hosts = text
    .split(',')
    .map((host) => host.trim())
    .filter(Boolean);
  for (const host of hosts) {
    if (URL.parse(`https://${host}`)?.hostname !== host) throw new Error('not a host name');
  }
  return hosts;
}

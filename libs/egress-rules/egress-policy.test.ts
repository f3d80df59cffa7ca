import { readSettings } from '@creditlane/runtime/setting';
import { expect, test } from 'vitest';
import { egressPolicySetting } from './egress-policy.ts';

const portsOf = (text: string) =>
  readSettings({ EGRESS_PORTS: text }, { policy: egressPolicySetting('EGRESS') }).policy.ports;

test('ports are read from a list', () => {
  expect(portsOf('443, 8443')).toEqual([443, 8443]);
});

test.each(['443,http', '0', '65536', '1.5', '443,'])(
  'with the ports %j the configuration’s problem says what they must be',
  (text) => {
    expect(() => portsOf(text)).toThrow(
      'EGRESS_PORTS: must be ports from 1 to 65535, separated by commas',
    );
  },
);

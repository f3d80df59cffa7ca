import { readSettings } from '@creditlane/runtime/setting';
import { expect, it } from 'vitest';
import { BUREAU_SETTINGS } from './bureau-settings.ts';

it('without variables, inquiries go to public hosts by https only', () => {
  expect(readSettings({}, BUREAU_SETTINGS)).toMatchObject({
    egress: { allowHttp: false, allowLoopback: false, ports: [443, 8443] },
    hosts: [],
    deadlineMs: 20_000,
    maxConnections: 16,
  });
});

it('BUREAU_HOSTS names hosts, without scheme, port or path', () => {
  const read = (BUREAU_HOSTS: string) => readSettings({ BUREAU_HOSTS }, BUREAU_SETTINGS).hosts;
  expect(read('api.bureau.example, 10.0.0.1')).toEqual(['api.bureau.example', '10.0.0.1']);
  for (const wrong of ['https://a.example', 'a.example:443', 'a.example/x', 'A.example']) {
    expect(() => read(wrong)).toThrow('BUREAU_HOSTS: must be host names');
  }
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isLoopbackAddress, isPublicAddress } from './public-address.ts';

describe('a public address', () => {
  it.each([
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '10.255.255.255',
    '100.64.0.1',
    '100.100.100.200',
    '100.127.255.255',
    '127.0.0.1',
    '127.8.8.8',
    '168.63.129.16',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.192',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.7',
    '203.0.113.7',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::7f00:1',
    '::127.0.0.1',
    '::8.8.8.8',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::ffff:0:127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::8.8.8.8',
    '64:ff9b:1::a00:1',
    '100::1',
    '2001::1',
    '2001:0:4136:e378:8000:63bf:3fff:fdd2',
    '2001:2::1',
    '2001:10::1',
    '2001:20::1',
    '2001:db8::1',
    '2002:7f00:1::1',
    '2002:808:808::1',
    '3fff::1',
    '5f00::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    '2a00:1450::5efe:a00:1',
    '2a00:1450::200:5efe:a00:1',
    '2606:4700:0:0:0:5efe:192.168.0.1',
    '2606:4700::1%eth0',
    '',
    'localhost',
    '127.1',
    '2130706433',
    '0x7f000001',
    '8.8.8.8 ',
    '8.8.8.8.8',
  ])('%j is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.1',
    '168.63.129.15',
    '172.15.255.255',
    '172.32.0.0',
    '192.0.1.1',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '2001:200::1',
    '2001:4860:4860::8888',
    '2003::1',
    '2606:4700:4700::1111',
    '2a00:1450:4009:80b::200e',
    '3ffe::1',
  ])('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it('an IPv4 address in any IPv6 notation is not public', () => {
    fc.assert(
      fc.property(fc.ipV4(), (ipv4) => {
        const hex = ipv4
          .split('.')
          .map((byte) => Number(byte).toString(16).padStart(2, '0'))
          .join('');
        const tail = `${hex.slice(0, 4)}:${hex.slice(4)}`;
        for (const address of [
          `::${ipv4}`,
          `::ffff:${ipv4}`,
          `64:ff9b::${ipv4}`,
          `64:ff9b:1::${ipv4}`,
          `2002:${tail}::1`,
          `2001:0:${tail}::`,
          `2a00::5efe:${ipv4}`,
        ]) {
          expect(isPublicAddress(address), address).toBe(false);
        }
      }),
    );
  });
});

describe('a loopback address', () => {
  it.each([
    ['127.0.0.1', true],
    ['127.9.9.9', true],
    ['::1', true],
    ['0:0:0:0:0:0:0:1', true],
    ['::ffff:127.0.0.1', false],
    ['10.0.0.1', false],
    ['::', false],
    ['localhost', false],
  ])('%s is a loopback address: %s', (address, expected) => {
    expect(isLoopbackAddress(address)).toBe(expected);
  });
});

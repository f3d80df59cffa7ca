import { describe, expect, it } from 'vitest';
import { buildEventUrl, checkEgressUrl } from './destination-url.ts';

const strict = { allowHttp: false, allowLoopback: false, ports: [443, 8443] };
const local = { allowHttp: true, allowLoopback: true, ports: [443, 8443] };

describe('the URL of an event', () => {
  it.each([
    ['https://hooks.example.com', 'https://hooks.example.com/application-booked'],
    ['https://hooks.example.com/', 'https://hooks.example.com/application-booked'],
    ['https://hooks.example.com/a/b//', 'https://hooks.example.com/a/b/application-booked'],
    ['https://hooks.example.com/a?k=v', 'https://hooks.example.com/a/application-booked?k=v'],
  ])('appends the event’s path to %s', (destination, expected) => {
    expect(buildEventUrl(destination, '/application-booked').href).toBe(expected);
  });

  it('of a malformed destination: url_malformed', () => {
    expect(() => buildEventUrl('hooks.example.com', '/x')).toThrow('url_malformed');
  });
});

describe('checkEgressUrl', () => {
  it.each([
    ['http://hooks.example.com/', 'scheme_not_allowed'],
    ['ftp://hooks.example.com/', 'scheme_not_allowed'],
    ['file:///etc/passwd', 'scheme_not_allowed'],
    ['https://user@hooks.example.com/', 'credentials_in_url'],
    ['https://:secret@hooks.example.com/', 'credentials_in_url'],
    ['https://hooks.example.com:22/', 'port_not_allowed'],
    ['https://hooks.example.com:80/', 'port_not_allowed'],
    ['https://localhost/', 'host_not_public'],
    ['https://localhost./', 'host_not_public'],
    ['https://kubernetes/', 'host_not_public'],
    ['https://kubernetes.default.svc/', 'host_not_public'],
    ['https://db.default.svc.cluster.local/', 'host_not_public'],
    ['https://db.default.svc.cluster.local./', 'host_not_public'],
    ['https://metadata.google.internal/', 'host_not_public'],
    ['https://METADATA.GOOGLE.INTERNAL/', 'host_not_public'],
    ['https://printer.lan/', 'host_not_public'],
    ['https://127.0.0.1/', 'address_not_public'],
    ['https://127.1/', 'address_not_public'],
    ['https://2130706433/', 'address_not_public'],
    ['https://0x7f.0.0.1/', 'address_not_public'],
    ['https://0177.0.0.1/', 'address_not_public'],
    ['https://169.254.169.254/latest/meta-data/', 'address_not_public'],
    ['https://１２７.0.0.1/', 'address_not_public'],
    ['https://[::1]/', 'address_not_public'],
    ['https://[::ffff:169.254.169.254]/', 'address_not_public'],
    ['https://[64:ff9b::a9fe:a9fe]/', 'address_not_public'],
  ])('%s: %s', (url, code) => {
    expect(() => checkEgressUrl(new URL(url), strict)).toThrow(code);
  });

  it.each([
    'https://hooks.example.com/a',
    'https://hooks.example.com:8443/',
    'https://hooks.example.com./',
    'https://1.1.1.1/',
    'https://[2606:4700:4700::1111]/',
  ])('%s is allowed', (url) => {
    expect(() => checkEgressUrl(new URL(url), strict)).not.toThrow();
  });

  it.each(['http://127.0.0.1:4000/', 'http://localhost:4000/', 'https://[::1]:4000/'])(
    '%s is allowed with allowHttp and allowLoopback',
    (url) => {
      expect(() => checkEgressUrl(new URL(url), local)).not.toThrow();
    },
  );

  it.each(['http://10.0.0.1:443/', 'http://169.254.169.254:443/', 'http://[::ffff:7f00:1]:443/'])(
    '%s is not allowed with allowHttp and allowLoopback',
    (url) => {
      expect(() => checkEgressUrl(new URL(url), local)).toThrow('address_not_public');
    },
  );
});

import { Fault } from '@creditlane/rpc/fault';
import { describe, expect, test } from 'vitest';
import { checkDestinationUrl, makeSigningSecret } from './destination.ts';

describe('the URL of a destination', () => {
  const strict = { allowHttp: false, allowLoopback: false, ports: [443, 8443] };
  const local = { ...strict, allowHttp: true, allowLoopback: true };

  test.each([
    'https://hooks.example.com',
    'https://hooks.example.com:8443/creditlane?tenant=7',
    'https://[2606:4700:4700::1111]/',
  ])('%s is accepted', (url) => expect(() => checkDestinationUrl(url, strict)).not.toThrow());

  test.each([
    ['hooks.example.com', 'must be an absolute URL'],
    ['/hooks', 'must be an absolute URL'],
    ['//hooks.example.com', 'must be an absolute URL'],
    ['javascript:alert(1)', 'must begin with https://'],
    ['http://hooks.example.com/', 'must begin with https://'],
    ['https://me@hooks.example.com/', 'must not hold a user name or password'],
    ['https://:secret@hooks.example.com/', 'must not hold a user name or password'],
    ['https://@hooks.example.com/', 'must not hold a user name or password'],
    ['https://hooks.example.com/#top', 'must not hold a fragment'],
    ['https://hooks.example.com/#', 'must not hold a fragment'],
    [' https://hooks.example.com/', 'must not hold spaces or control characters'],
    ['https://hooks.example.com/a\nb', 'must not hold spaces or control characters'],
    ['https://hooks.example.com:22/', 'must have one of the ports 443, 8443'],
    ['https://127.0.0.1/', 'must lead to a public name or address'],
    ['https://10.1.2.3/', 'must lead to a public name or address'],
    ['https://169.254.169.254/latest/meta-data/', 'must lead to a public name or address'],
    ['https://[2001:db8::1]/', 'must lead to a public name or address'],
    ['https://localhost/', 'must lead to a public name or address'],
    ['https://receiver/', 'must lead to a public name or address'],
    ['https://db.default.svc.cluster.local/', 'must lead to a public name or address'],
  ])('%j is refused', (url, message) => {
    const refused = expect(() => checkDestinationUrl(url, strict));
    refused.toThrow(expect.objectContaining({ fields: [{ pointer: '/url', message }] }));
  });

  test('that begins with neither http nor https is refused where http is allowed, too', () => {
    const fields = [{ pointer: '/url', message: 'must begin with http:// or https://' }];
    const refused = expect(() => checkDestinationUrl('ftp://hooks.example.com/', local));
    refused.toThrow(expect.objectContaining({ fields }));
  });

  test('with port 0 is refused where a loopback address may have any port, too', () => {
    expect(() => checkDestinationUrl('http://127.0.0.1:0/', local)).toThrow(Fault);
  });

  test('may have a loopback address where the settings allow it, but no other private address', () => {
    for (const url of ['http://127.0.0.1:8080/inbox', 'http://localhost:4000/']) {
      expect(() => checkDestinationUrl(url, local)).not.toThrow();
    }
    expect(() => checkDestinationUrl('http://10.0.0.1:443/', local)).toThrow(Fault);
  });
});

test('a signing secret is 32 new bytes in the form of Standard Webhooks', () => {
  const secret = makeSigningSecret();
  expect(secret.bytes).toHaveLength(32);
  expect(Buffer.from(secret.text.replace(/^whsec_/, ''), 'base64')).toEqual(secret.bytes);
  expect(makeSigningSecret().text).not.toBe(secret.text);
});

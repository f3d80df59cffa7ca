import { Fault } from '@creditlane/rpc/fault';
import { describe, expect, test } from 'vitest';
import { checkDestinationUrl, makeSigningSecret } from './destination.ts';

describe('the URL of a destination', () => {
  test.each([
    'https://hooks.example.com',
    'https://hooks.example.com:8443/creditlane?tenant=7',
    'http://127.0.0.1:8080/inbox',
    'https://[2001:db8::1]/',
  ])('may be %s', (url) => expect(() => checkDestinationUrl(url)).not.toThrow());

  test.each([
    ['no URL', 'hooks.example.com'],
    ['relative', '/hooks'],
    ['another scheme', 'javascript:alert(1)'],
    ['a host alone', '//hooks.example.com'],
    ['a user name', 'https://me@hooks.example.com/'],
    ['a password', 'https://:secret@hooks.example.com/'],
    ['a fragment', 'https://hooks.example.com/#top'],
    ['an empty fragment', 'https://hooks.example.com/#'],
    ['a space in front', ' https://hooks.example.com/'],
    ['a line break inside', 'https://hooks.example.com/a\nb'],
  ])('may not have or be %s', (_, url) => expect(() => checkDestinationUrl(url)).toThrow(Fault));
});

test('a signing secret is 32 bytes, shown in the form of Standard Webhooks, and never the same', () => {
  const secret = makeSigningSecret();
  expect(secret.bytes).toHaveLength(32);
  expect(Buffer.from(secret.text.replace(/^whsec_/, ''), 'base64')).toEqual(secret.bytes);
  expect(makeSigningSecret().text).not.toBe(secret.text);
});

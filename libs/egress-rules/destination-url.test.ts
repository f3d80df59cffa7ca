import { describe, expect, it } from 'vitest';
import { buildEventUrl, checkEgressUrl, readDestinationUrl } from './destination-url.ts';

const strict = { allowHttp: false, allowLoopback: false, ports: [443, 8443] };
const local = { allowHttp: true, allowLoopback: true, ports: [443, 8443] };

describe('the URL of an event', () => {
  it.each([
    ['https://hooks.example.com', 'https://hooks.example.com/application-booked'],
    ['https://hooks.example.com/', 'https://hooks.example.com/application-booked'],
    ['https://hooks.example.com/a/b//', 'https://hooks.example.com/a/b/application-booked'],
    ['https://hooks.example.com/a?k=v', 'https://hooks.example.com/a/application-booked?k=v'],
    ['https://@hooks.example.com/a', 'https://hooks.example.com/a/application-booked'],
    [
      'https://hooks.example.com/|[]{}^`"<>é%zz%/%7c%20',
      'https://hooks.example.com/%7C%5B%5D%7B%7D%5E%60%22%3C%3E%C3%A9%25zz%25/%7c%20/application-booked',
    ],
    [
      'https://hooks.example.com/a?|[]{}\\^`"<>é\'%zz=?/%7c%',
      'https://hooks.example.com/a/application-booked?%7C%5B%5D%7B%7D%5C%5E%60%22%3C%3E%C3%A9%27%25zz=?/%7c%25',
    ],
    [
      "https://hooks.example.com/a-._~!$&'()*+,;=:@b?a-._~!$&()*+,;=:@b",
      "https://hooks.example.com/a-._~!$&'()*+,;=:@b/application-booked?a-._~!$&()*+,;=:@b",
    ],
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
    ['https://hooks.example.com:0/', 'port_not_allowed'],
    ['https://localhost/', 'host_not_public'],
    ['https://kubernetes/', 'host_not_public'],
    ['https://kubernetes.default.svc/', 'host_not_public'],
    ['https://db.default.svc.cluster.local/', 'host_not_public'],
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

  it.each(['http://127.0.0.1:0/', 'http://localhost:0/', 'http://[::1]:0/'])(
    '%s has no port: port_not_allowed',
    (url) => {
      expect(() => checkEgressUrl(new URL(url), local)).toThrow('port_not_allowed');
    },
  );

  it.each(['http://10.0.0.1:443/', 'http://169.254.169.254:443/', 'http://[::ffff:7f00:1]:443/'])(
    '%s is not allowed with allowHttp and allowLoopback',
    (url) => {
      expect(() => checkEgressUrl(new URL(url), local)).toThrow('address_not_public');
    },
  );
});

/** Every spelling of a host, with its outcome under the rules of production and of development. */
describe('the host of a destination', () => {
  const outcomeOf = (text: string, policy: typeof strict) => {
    try {
      checkEgressUrl(readDestinationUrl(text), policy);
      return 'allowed';
    } catch (error) {
      return (error as { code?: string }).code;
    }
  };
  const INVALID = 'host_name_invalid';
  const OTHER = 'host_not_canonical';
  const INTERNAL = 'host_not_public';
  const ADDRESS = 'address_not_public';

  it.each([
    // A final dot, and empty labels.
    ['example.com.', INVALID, INVALID],
    ['example.com..', INVALID, INVALID],
    ['localhost.', INVALID, INVALID],
    ['localhost..', INVALID, INVALID],
    ['127.0.0.1.', OTHER, OTHER],
    ['1.1.1.1.', OTHER, OTHER],
    ['bücher.example.com.', INVALID, INVALID],
    ['metadata.google.internal.', INVALID, INVALID],
    ['db.default.svc.cluster.local.', INVALID, INVALID],
    ['db.default.svc.cluster.local..', INVALID, INVALID],
    ['.example.com', INVALID, INVALID],
    ['a..example.com', INVALID, INVALID],
    ['..', INVALID, INVALID],
    ['example.com.:443', INVALID, INVALID],
    // Escapes and characters that the parser maps to others.
    ['ex%61mple.com', OTHER, OTHER],
    ['example.com%2eevil.com', OTHER, OTHER],
    ['localhost%2e', OTHER, OTHER],
    ['example.com%00.evil.com', 'url_malformed', 'url_malformed'],
    ['example.com%2f.evil.com', 'url_malformed', 'url_malformed'],
    ['１２７.0.0.1', OTHER, OTHER],
    ['１.１.１.１', OTHER, OTHER],
    ['127。0。0。1', OTHER, OTHER],
    ['example。com', OTHER, OTHER],
    ['example．com', OTHER, OTHER],
    ['example｡com', OTHER, OTHER],
    ['ⓔxample.com', OTHER, OTHER],
    ['loc\u00adalhost', OTHER, OTHER],
    ['localhost\u200b', OTHER, OTHER],
    ['ｌｏｃａｌｈｏｓｔ', OTHER, OTHER],
    ['exam\u200dple.com', 'url_malformed', 'url_malformed'],
    ['bu\u0308cher.example.com', OTHER, OTHER],
    // Addresses in other notations.
    ['0x7f.1', OTHER, OTHER],
    ['127.1', OTHER, OTHER],
    ['2130706433', OTHER, OTHER],
    ['0177.0.0.1', OTHER, OTHER],
    ['0300.0250.0.1', OTHER, OTHER],
    ['0x01010101', OTHER, OTHER],
    ['127.0.0.01', OTHER, OTHER],
    ['256.0.0.1', 'url_malformed', 'url_malformed'],
    ['127.0.0.1.example', 'allowed', 'allowed'],
    ['example.127.0.0.1', 'url_malformed', 'url_malformed'],
    ['[::ffff:7f00:1]', ADDRESS, ADDRESS],
    ['[::FFFF:7F00:1]', ADDRESS, ADDRESS],
    ['[::ffff:127.0.0.1]', OTHER, OTHER],
    ['[0:0:0:0:0:0:0:1]', OTHER, OTHER],
    ['[::1%25lo]', 'url_malformed', 'url_malformed'],
    ['[::1].', 'url_malformed', 'url_malformed'],
    ['[2606:4700:4700:0:0:0:0:1111]', OTHER, OTHER],
    ['127.0.0.1', ADDRESS, 'allowed'],
    ['[::1]', ADDRESS, 'allowed'],
    // What other parsers read as another host.
    ['example.com\\@127.0.0.1', OTHER, OTHER],
    ['127.0.0.1\\.example.com', OTHER, OTHER],
    ['exa\tmple.com', OTHER, OTHER],
    ['exa\nmple.com', OTHER, OTHER],
    ['example.com\r\n', OTHER, OTHER],
    ['exa mple.com', 'url_malformed', 'url_malformed'],
    ['@example.com', 'credentials_in_url', 'credentials_in_url'],
    [':@example.com', 'credentials_in_url', 'credentials_in_url'],
    ['127.0.0.1@example.com', 'credentials_in_url', 'credentials_in_url'],
    ['example.com@127.0.0.1', 'credentials_in_url', 'credentials_in_url'],
    ['/example.com', OTHER, OTHER],
    ['//example.com', OTHER, OTHER],
    // Names that are no host names.
    ['a*.example.com', INVALID, INVALID],
    ["a'b.example.com", INVALID, INVALID],
    ['a,b.example.com', INVALID, INVALID],
    ['a;b.example.com', INVALID, INVALID],
    ['a$b.example.com', INVALID, INVALID],
    ['-a.example.com', INVALID, INVALID],
    ['a-.example.com', INVALID, INVALID],
    [`${'a'.repeat(64)}.example.com`, INVALID, INVALID],
    [`${'a.'.repeat(126)}com`, INVALID, INVALID],
    // Names of this machine and of private networks.
    ['LOCALHOST', INTERNAL, 'allowed'],
    ['LocalHost', INTERNAL, 'allowed'],
    ['a.localhost', INTERNAL, INTERNAL],
    ['localhost.localdomain', INTERNAL, INTERNAL],
    ['kubernetes', INTERNAL, INTERNAL],
    ['_', INTERNAL, INTERNAL],
    ['db.local', INTERNAL, INTERNAL],
    ['DB.LOCAL', INTERNAL, INTERNAL],
    ['db.internal', INTERNAL, INTERNAL],
    ['db.svc.cluster.local', INTERNAL, INTERNAL],
    ['1.0.0.127.in-addr.arpa', INTERNAL, INTERNAL],
    // One spelling of a public host.
    ['EXAMPLE.com', 'allowed', 'allowed'],
    ['a_b.example.com', 'allowed', 'allowed'],
    ['bücher.example.com', 'allowed', 'allowed'],
    ['BÜCHER.example.com', 'allowed', 'allowed'],
    ['xn--bcher-kva.example.com', 'allowed', 'allowed'],
    ['faß.example.com', 'allowed', 'allowed'],
    [`${'a'.repeat(63)}.example.com`, 'allowed', 'allowed'],
    [`${'a.'.repeat(125)}com`, 'allowed', 'allowed'],
    ['1.1.1.1', 'allowed', 'allowed'],
  ])('%j: %s, in development %s', (host, inProduction, inDevelopment) => {
    const outcomes = [strict, local].map((policy) => outcomeOf(`https://${host}/hooks`, policy));
    expect(outcomes).toEqual([inProduction, inDevelopment]);
  });

  it.each([
    ['https:example.com', OTHER],
    ['https:/example.com', OTHER],
    ['https:///example.com', OTHER],
    ['https:\\\\example.com', OTHER],
    [' https://example.com', OTHER],
    ['HTTPS://example.com', 'allowed'],
    ['https://example.com?to=https://127.0.0.1.', 'allowed'],
    ['https://example.com', 'allowed'],
  ])('%j: %s', (text, outcome) => expect(outcomeOf(text, strict)).toBe(outcome));

  it('that is not canonical is refused when an event is sent to it, too', () => {
    expect(() => buildEventUrl('https://127.0.0.1./', '/application-booked')).toThrow(OTHER);
    const event = buildEventUrl('https://example.com./', '/application-booked');
    expect(() => checkEgressUrl(event, strict)).toThrow(INVALID);
  });
});

import { readSettings } from '@creditlane/runtime/setting';
import { TestCertificateAuthority } from '@creditlane/runtime/test-certificate-authority';
import { expect, test } from 'vitest';
import { BUREAU_SETTINGS } from './bureau-settings.ts';

const EQUIFAX_ALONE = { BUREAUS: 'EQUIFAX' };

test('without further variables, inquiries go to public hosts by https only', () => {
  expect(readSettings(EQUIFAX_ALONE, BUREAU_SETTINGS)).toMatchObject({
    enabled: ['EQUIFAX'],
    egress: { allowHttp: false, allowLoopback: false, ports: [443, 8443] },
    hosts: [],
    deadlineMs: 20_000,
    maxConnections: 16,
  });
});

test('BUREAU_HOSTS names hosts, without scheme, port or path', () => {
  const read = (BUREAU_HOSTS: string) =>
    readSettings({ ...EQUIFAX_ALONE, BUREAU_HOSTS }, BUREAU_SETTINGS).hosts;
  expect(read('api.bureau.example, 10.0.0.1')).toEqual(['api.bureau.example', '10.0.0.1']);
  for (const wrong of ['https://a.example', 'a.example:443', 'a.example/x', 'A.example']) {
    expect(() => read(wrong)).toThrow('BUREAU_HOSTS: must be host names');
  }
});

test('without variables the service asks both bureaus, and refuses to start without a template', () => {
  expect(() => readSettings({}, BUREAU_SETTINGS)).toThrow(
    /^TRANSUNION_REQUEST_TEMPLATE: must be set, because BUREAUS names TRANSUNION/,
  );
});

test.each([
  [{ EQUIFAX_OUTPUT_XML: '<Language>EN' }, /^EQUIFAX_OUTPUT_XML: is not well-formed: 1:/],
  [
    { BUREAUS: 'TRANSUNION', TRANSUNION_REQUEST_TEMPLATE: '{{memberCode}}' },
    /^TRANSUNION_REQUEST_TEMPLATE: the request template of TransUnion: {{password}} is missing$/,
  ],
  [{ EQUIFAX_TOKEN_URL: 'https://' }, /^EQUIFAX_TOKEN_URL: must be an https URL, or a path/],
  [{ EQUIFAX_TOKEN_URL: 'login.example:443/token' }, /^EQUIFAX_TOKEN_URL: must be an https URL/],
  [{ TRANSUNION_SOAP_ACTION: 'Pull\nX: 1' }, /^TRANSUNION_SOAP_ACTION: must be one line of text/],
  [{ TRANSUNION_CONTENT_TYPE: 'text/xml; “utf-8”' }, /^TRANSUNION_CONTENT_TYPE: must be one line/],
])(
  'a request that could not be made, as with %o, is refused at start with the reason',
  (env, problem) => {
    expect(() => readSettings({ ...EQUIFAX_ALONE, ...env }, BUREAU_SETTINGS)).toThrow(problem);
  },
);

test('a certificate and a key that do not fit each other are refused at start', () => {
  const authority = new TestCertificateAuthority();
  const [one, other] = [authority.issue(), authority.issue()];
  const read = (key: string) => {
    const files = { TRANSUNION_TLS_CERT_FILE: one.cert, TRANSUNION_TLS_KEY_FILE: key };
    return readSettings({ ...EQUIFAX_ALONE, ...files }, BUREAU_SETTINGS);
  };
  expect(read(one.key).transUnion.clientCertificate).toEqual({ cert: one.cert, key: one.key });
  const problem = /^TRANSUNION_TLS_CERT_FILE: must be PEM files of a certificate and of its key$/;
  expect(() => read(other.key)).toThrow(problem);
  expect(() => read('/nowhere/a.key')).toThrow(problem);
});

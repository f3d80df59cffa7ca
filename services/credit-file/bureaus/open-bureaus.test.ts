import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { create } from '@bufbuild/protobuf';
import {
  type BureauSimulator,
  startBureauSimulator,
} from '@creditlane/bureau-simulator/bureau-simulator';
import { REQUEST_TEMPLATE } from '@creditlane/bureau-simulator/request-template';
import {
  EquifaxCredentialsSchema,
  EquifaxTransport,
  TransUnionCredentialsSchema,
} from '@creditlane/proto/creditfile/v1/bureau_credentials_service';
import { readSettings } from '@creditlane/runtime/setting';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import {
  replaceFile,
  TestCertificateAuthority,
} from '@creditlane/runtime/test-certificate-authority';
import { silentLog } from '@creditlane/runtime/test-log';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { BureauCredentials } from '../bureau-credentials/sealed-credentials.ts';
import { BUREAU_SETTINGS } from './bureau-settings.ts';
import { type Bureaus, openBureaus } from './open-bureaus.ts';

const ACCOUNT = {
  customerCode: 'S101',
  customerNumber: '999ZB10001',
  securityCode: 'sesame',
  clientId: 'client',
  clientSecret: 'a secret: 100%',
};
const MEMBER = { memberCode: 'M1', password: 'a & b' };

let simulator: BureauSimulator;
let bureaus: Bureaus;

beforeAll(async () => {
  simulator = await startBureauSimulator({
    host: '127.0.0.1',
    port: 0,
    log: silentLog,
    accounts: { equifax: [ACCOUNT], transUnion: [MEMBER] },
  });
  bureaus = open({
    TRANSUNION_REQUEST_TEMPLATE: REQUEST_TEMPLATE,
    BUREAU_FAILURES_TO_OPEN: '1000',
  });
});

afterAll(async () => {
  await bureaus?.close();
  await simulator?.close();
});

function open(env: Record<string, string>, metrics = new Metrics()): Bureaus {
  const local = {
    BUREAU_ALLOW_HTTP: 'true',
    BUREAU_ALLOW_LOOPBACK: 'true',
    EQUIFAX_TOKEN_URL: '/equifax/token',
    EQUIFAX_TOKEN_SCOPE: 'reports',
  };
  const settings = readSettings({ ...local, ...env }, BUREAU_SETTINGS);
  return openBureaus(settings, { log: silentLog, metrics });
}

function equifax(
  transport: EquifaxTransport,
  change: Partial<typeof ACCOUNT> = {},
): BureauCredentials {
  const { equifaxUrl: baseUrl } = simulator;
  const value = create(EquifaxCredentialsSchema, { ...ACCOUNT, ...change, transport, baseUrl });
  return { source: 'EQUIFAX', value };
}

function transUnion(): BureauCredentials {
  const { transUnionUrl: baseUrl } = simulator;
  return {
    source: 'TRANSUNION',
    value: create(TransUnionCredentialsSchema, { ...MEMBER, baseUrl }),
  };
}

/** What becomes of an inquiry for this last name, and how many inquiries the bureau counts for it. */
async function inquire(credentials: BureauCredentials, lastName: string, from: Bureaus = bureaus) {
  const countInquiries = async () => {
    const all: unknown = await (await fetch(`${simulator.url}/inquiries`)).json();
    return (all as unknown[]).length;
  };
  const address = {
    streetNo: '12',
    streetName: 'Oak St',
    city: 'Ottawa',
    province: 'ON',
    postalCode: 'K1A 0B1',
  };
  const subject = { firstName: 'Ada', lastName, dateOfBirth: '1988-07-14', addresses: [address] };
  const reference = 'a-pull';
  const inquiry = { reference, subject };
  const prepare = async () => ({ inquiry, markedMs: performance.now() });
  const before = await countInquiries();
  const outcome = await from.inquire({ reference, prepare }, credentials);
  if (outcome.kind === 'withdrawn') throw new Error('the inquiry was withdrawn');
  const word = outcome.kind === 'answered' ? outcome.answer.kind : outcome.reason;
  return { outcome, word, inquiries: (await countInquiries()) - before };
}

const TRANSPORTS: [string, () => BureauCredentials][] = [
  ['Equifax by OAuth', () => equifax(EquifaxTransport.OAUTH)],
  ['Equifax by SOAP', () => equifax(EquifaxTransport.SOAP)],
  ['Equifax by the older form', () => equifax(EquifaxTransport.FORM)],
  ['TransUnion', transUnion],
];

test.each(TRANSPORTS)(
  '%s: the file of the person who is asked for, by one inquiry',
  async (_, credentials) => {
    const { outcome, inquiries } = await inquire(credentials(), 'Thin');
    expect(outcome).toMatchObject({
      kind: 'answered',
      answer: {
        kind: 'file',
        file: { hitType: 'HIT', trades: [{}], subject: { lastName: /thin/i } },
      },
    });
    expect(inquiries).toBe(1);
  },
);

const equifaxByForm = () => equifax(EquifaxTransport.FORM);

test.each([
  ['Badlogin', 'refused', [equifaxByForm, transUnion]],
  ['Busy', 'refused', [transUnion]],
  ['Malformed', 'malformed', [equifaxByForm, transUnion]],
  ['Truncated', 'malformed', [equifaxByForm, transUnion]],
  ['Bomb', 'malformed', [equifaxByForm, transUnion]],
  ['Unavailable', 'server_error', [equifaxByForm]],
  ['Dropped', 'connection_lost', [equifaxByForm, transUnion]],
  ['Cutoff', 'connection_lost', [transUnion]],
  ['Oversized', 'answer_too_large', [equifaxByForm]],
])('%s: %s at each bureau that has this persona, after one inquiry', async (lastName, word, at) => {
  for (const credentials of at) {
    expect(await inquire(credentials(), lastName)).toMatchObject({ word, inquiries: 1 });
  }
});

test('five failures in a row, or as many as the settings say, stop the inquiries', async () => {
  const standard = open({ BUREAUS: 'EQUIFAX' });
  for (let count = 0; count < 5; count += 1) await inquire(equifaxByForm(), 'Dropped', standard);
  expect((await inquire(equifaxByForm(), 'Smith', standard)).word).toBe('breaker_open');
  await standard.close();
  for (let count = 0; count < 6; count += 1) await inquire(equifaxByForm(), 'Dropped');
  expect((await inquire(equifaxByForm(), 'Smith')).word).toBe('file');
});

test('a kept access token that the bureau has ended → no inquiry, and the next one has a new token', async () => {
  const credentials = equifax(EquifaxTransport.OAUTH);
  expect(await inquire(credentials, 'Smith')).toMatchObject({ word: 'file', inquiries: 1 });
  simulator.endTokens();
  const rejected = { word: 'token_rejected', inquiries: 0 };
  expect(await inquire(credentials, 'Smith')).toMatchObject(rejected);
  expect(await inquire(credentials, 'Smith')).toMatchObject({ word: 'file', inquiries: 1 });
});

test('a wrong client secret → no inquiry', async () => {
  const credentials = equifax(EquifaxTransport.OAUTH, { clientSecret: 'wrong' });
  const expected = { word: 'token_refused', inquiries: 0 };
  expect(await inquire(credentials, 'Smith')).toMatchObject(expected);
});

const equifaxBySoap = () => equifax(EquifaxTransport.SOAP);

test.each([
  { BUREAUS: 'EQUIFAX', asked: equifaxBySoap, unasked: transUnion },
  {
    ...{ BUREAUS: 'TRANSUNION', TRANSUNION_REQUEST_TEMPLATE: REQUEST_TEMPLATE },
    ...{ asked: transUnion, unasked: equifaxBySoap },
  },
])('with BUREAUS=$BUREAUS the other bureau is not asked', async ({ asked, unasked, ...env }) => {
  const one = open(env);
  const file = { word: 'file', inquiries: 1 };
  expect(await inquire(asked(), 'Smith', one)).toMatchObject(file);
  const none = { word: 'not_configured', inquiries: 0 };
  expect(await inquire(unasked(), 'Smith', one)).toMatchObject(none);
  expect(() => one.requireConfigured(asked().source)).not.toThrow();
  expect(() => one.requireConfigured(unasked().source)).toThrow('The platform is not set up');
  await one.close();
});

test.each([
  ['TRANSUNION_REQUEST_TEMPLATE', '<a>{{memberCode}}</a>', /\{\{password\}\} is missing/],
  ['TRANSUNION_TLS_CERT_FILE', '/nowhere/a.crt', /TRANSUNION_TLS_KEY_FILE: missing/],
  ['BUREAUS', 'EQUIFAX,EXPERIAN', /BUREAUS: must be EQUIFAX, TRANSUNION, or both, each once$/],
  [
    'BUREAUS',
    'EQUIFAX, TRANSUNION',
    /^TRANSUNION_REQUEST_TEMPLATE: must be set, because BUREAUS names TRANSUNION; BUREAUS=EQUIFAX asks Equifax alone$/,
  ],
  ['BUREAU_CODE_TABLES', 'equifax: { hitType: { 1: NOBODY } }', /equifax\.hitType/],
])('a wrong %s → the service does not start, and says what is wrong', (name, text, problem) => {
  expect(() => open({ BUREAUS: 'EQUIFAX', [name]: text })).toThrow(problem);
});

test('the end of the certificate for TransUnion is a metric, by the file that new connections read', async () => {
  const { cert, key, ca } = new TestCertificateAuthority().issue();
  const metrics = new Metrics();
  const opened = open(
    {
      TRANSUNION_REQUEST_TEMPLATE: REQUEST_TEMPLATE,
      TRANSUNION_TLS_CERT_FILE: cert,
      TRANSUNION_TLS_KEY_FILE: key,
    },
    metrics,
  );
  onTestFinished(() => opened.close());
  const expiryOf = (file: string) =>
    new X509Certificate(readFileSync(file)).validToDate.getTime() / 1_000;
  const metric = (file: string) =>
    `creditlane_tls_certificate_expires_timestamp_seconds{certificate="transunion"} ${expiryOf(file)}`;
  expect(await metrics.text()).toContain(metric(cert));
  replaceFile(cert, ca);
  expect(await metrics.text()).toContain(metric(ca));
});

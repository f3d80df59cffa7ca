import { once } from 'node:events';
import { connect } from 'node:net';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type BureauSimulator, startBureauSimulator } from './bureau-simulator.ts';
import { escapeXml } from './escape-xml.ts';
import { equifaxForm, equifaxXml, type TestSubject, transUnionXml } from './test-requests.ts';
import { findElement, readXml, textOf } from './xml-document.ts';

const OPTIONS = {
  host: '127.0.0.1',
  port: 0,
  log: createLog('simulator-test', { level: 'silent' }),
};

let simulator: BureauSimulator;
beforeEach(async () => {
  simulator = await startBureauSimulator(OPTIONS);
});
afterEach(() => simulator.close());

const post = (path: string, body: string | URLSearchParams, headers: Record<string, string> = {}) =>
  fetch(simulator.url + path, { method: 'POST', body, headers });

const askEquifax = (subject: TestSubject, account?: Parameters<typeof equifaxForm>[1]) =>
  post('/equifax', equifaxForm(subject, account));

const askTransUnion = (subject: TestSubject, account?: Parameters<typeof transUnionXml>[1]) =>
  post('/transunion', transUnionXml(subject, account), { 'content-type': 'text/xml' });

async function lastNames() {
  const answer = await fetch(`${simulator.url}/inquiries`);
  return ((await answer.json()) as { lastName: string }[]).map(({ lastName }) => lastName);
}

async function hitCodeOf(answer: Response) {
  const path = ['EfxReport', 'CNConsumerCreditReports', 'CNConsumerCreditReport', 'CNHeader'];
  return findElement(readXml(await answer.text()), ...path, 'CreditFile', 'HitCode')?.attributes
    .code;
}

async function errorCodeOf(answer: Response) {
  expect(answer.status).toBe(200);
  const root = readXml(await answer.text());
  const bare = findElement(root, 'Body', 'ProcessRequestXMLResponse', 'ProcessRequestXMLResult');
  return (
    textOf(root, 'CNErrorReport', 'Errors', 'Error', 'ErrorCode') ||
    textOf(bare, 'Errors', 'Error', 'Code')
  );
}

const BASIC = `Basic ${btoa('simulator-client-1:simulator-secret-1')}`;

function askForToken(authorization = BASIC, fields: Record<string, string> = {}) {
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    scope: 'https://bureau.example/consumer',
    ...fields,
  });
  return post('/oauth/token', form, { authorization });
}

async function getToken() {
  return ((await (await askForToken()).json()) as { access_token: string }).access_token;
}

function askWithToken(token: string) {
  const form = new URLSearchParams({
    InputSegments: `HEADER1 ${equifaxXml({ lastName: 'Nohit' })}`,
  });
  return post('/equifax/inquiry', form, { authorization: `Bearer ${token}` });
}

describe('Equifax by the form with an access token', () => {
  test('answers with a file, also after a fixed header before the XML', async () => {
    const answer = await askForToken();
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ token_type: 'Bearer', expires_in: 1_800 });
    expect(await hitCodeOf(await askWithToken(await getToken()))).toBe('2');
  });

  test('refuses other clients, grants, and requests without a scope', async () => {
    const wrong = await askForToken(`Basic ${btoa('simulator-client-1:other')}`);
    expect([wrong.status, await wrong.json()]).toEqual([401, { error: 'invalid_client' }]);
    expect((await askForToken('Basic')).status).toBe(401);
    expect((await askForToken(BASIC, { grant_type: 'password' })).status).toBe(400);
    expect(await (await askForToken(BASIC, { scope: '' })).json()).toEqual({
      error: 'invalid_scope',
    });
  });

  test('counts no inquiry for an unknown, ended or missing token', async () => {
    const token = await getToken();
    simulator.endTokens();
    for (const value of [token, 'unknown']) {
      const answer = await askWithToken(value);
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"');
    }
    const form = new URLSearchParams({ InputSegments: equifaxXml({ lastName: 'Nohit' }) });
    const missing = await post('/equifax', form);
    expect(missing.status).toBe(401);
    expect(missing.headers.get('www-authenticate')).not.toContain('error');
    expect(await lastNames()).toEqual([]);
  });
});

describe('Equifax by SOAP 1.2', () => {
  const NAMESPACE = 'http://www.w3.org/2003/05/soap-envelope';
  const ask = (contents: string, namespace = NAMESPACE) =>
    post(
      '/equifax/sts',
      `<s:Envelope xmlns:s="${namespace}"><s:Body>${contents}</s:Body></s:Envelope>`,
      { 'content-type': 'application/soap+xml; charset=utf-8; action="Submit"' },
    );
  const submit = (segment: string) =>
    `<Submit xmlns="urn:sts"><InputSegment>${segment}</InputSegment></Submit>`;

  test.each([
    ['escaped', escapeXml(equifaxXml({ lastName: 'Locked' }))],
    ['in a CDATA section', `<![CDATA[${equifaxXml({ lastName: 'Locked' })}]]>`],
  ])(
    'answers a segment that is %s with the file as the text of SubmitResult',
    async (_, segment) => {
      const answer = await ask(submit(segment));
      expect(answer.headers.get('content-type')).toBe('application/soap+xml; charset=utf-8');
      const result = findElement(readXml(await answer.text()), 'Body', 'SubmitResponse');
      expect(result?.namespace).toBe('urn:sts');
      const xml = textOf(result, 'SubmitResult');
      expect(xml).toContain('<HitCode code="7" description="CREDIT LOCK"/>');
    },
  );

  test('answers other messages with a fault', async () => {
    for (const answer of [
      await ask('<Other/>'),
      await ask(submit('x'), 'http://schemas.xmlsoap.org/soap/envelope/'),
    ]) {
      expect(answer.status).toBe(400);
      expect(await answer.text()).toContain('soap:Sender');
    }
    expect(await lastNames()).toEqual([]);
  });
});

describe('Equifax by the older form', () => {
  test('answers with the reference of the request and the person asked about', async () => {
    const answer = await askEquifax({ lastName: 'O’Neil & Sons', firstName: 'Zoë' });
    expect(answer.headers.get('content-type')).toBe('text/xml; charset=utf-8');
    const xml = await answer.text();
    expect(xml).toContain('<CustomerReferenceNumber>r1</CustomerReferenceNumber>');
    expect(xml).toMatch(/<LastName>O’Neil &amp; Sons<\/LastName>\s*<FirstName>Zoë<\/FirstName>/);
  });

  test.each([
    ['wrong customer code', { customerCode: 'S102' }, {}, 'E0819'],
    ['wrong security code', { securityCode: 'other' }, {}, 'E0819'],
    ['missing first name', {}, { firstName: '' }, 'E0807'],
    ['city without a letter', {}, { city: '12' }, 'EV304'],
    ['unknown province', {}, { province: 'XX' }, 'EV305'],
  ])('answers a request with a %s by an error', async (_, account, subject, code) => {
    const answer = await askEquifax({ lastName: 'Thin', ...subject }, account);
    expect(await errorCodeOf(answer)).toBe(code);
    expect(await lastNames()).toEqual(['Thin']);
  });

  test.each([
    '',
    'no XML',
    '<CNCustTransmitToEfx>',
    '<CNCustTransmitToEfx/>',
    '<!DOCTYPE a [<!ENTITY e "x">]><CNCustTransmitToEfx xmlns="http://www.equifax.ca/XMLSchemas/CustToEfx">&e;</CNCustTransmitToEfx>',
  ])('answers a segment that is no request by error E0807: %s', async (segment) => {
    const form = new URLSearchParams({ InputSegments: segment, cmdSubmit: 'Submit' });
    expect(await errorCodeOf(await post('/equifax', form))).toBe('E0807');
    expect(await lastNames()).toEqual([]);
  });

  const askWith = (from: string, to: string) => {
    const xml = equifaxXml({ lastName: 'Thin' });
    expect(xml).toContain(from);
    return post(
      '/equifax',
      new URLSearchParams({ InputSegments: xml.replace(from, to), cmdSubmit: 'Submit' }),
    );
  };

  test.each([
    [
      'parameters beside CNRequests',
      '</CNRequests>',
      '</CNRequests><CNOutputParameters/>',
      'CNOutputParameters',
    ],
    [
      'parameters inside the consumer request',
      '<ECOAInquiryType>',
      '<CNOutputParameters/><ECOAInquiryType>',
      'CNOutputParameters',
    ],
    ['an unknown element', '<City>', '<Apartment>4</Apartment><City>', 'Apartment'],
    ['a blank in the postal code', 'K1A0B1', 'K1A 0B1', 'PostalCode'],
    ['another type of address', 'addressType="CURR"', 'addressType="HOME"', 'Address'],
    ['no type of the subject', ' subjectType="SUBJ"', '', 'Subject'],
    ['a date of birth in another form', '1988-07-14', '14.07.1988', 'DateOfBirth'],
    [
      'two dates of birth',
      '<DateOfBirth>',
      '<DateOfBirth>1988-07-14</DateOfBirth><DateOfBirth>',
      'DateOfBirth',
    ],
  ])('answers a request with %s by an error that names the element', async (_, from, to, name) => {
    const xml = await (await askWith(from, to)).text();
    expect(xml).toContain('<ErrorCode>E0807</ErrorCode>');
    expect(xml).toContain(`<AdditionalInformation>${name}</AdditionalInformation>`);
  });

  test('takes output parameters and scoring products inside CNRequests', async () => {
    const parameters =
      '<CNOutputParameters><Language>EN</Language></CNOutputParameters><CNScoringProducts/>';
    expect(await hitCodeOf(await askWith('</CNRequests>', `${parameters}</CNRequests>`))).toBe('1');
  });

  test('refuses other media types', async () => {
    const answer = await post('/equifax', '{}', { 'content-type': 'application/json' });
    expect(answer.status).toBe(415);
  });
});

describe('TransUnion', () => {
  test('answers with a file in SOAP 1.1, or with the root REL4Report', async () => {
    expect(await (await askTransUnion({ lastName: 'Thin' })).text()).toMatch(
      /<soap:Envelope .*<Hit>Y<\/Hit>/s,
    );
    expect(await (await askTransUnion({ lastName: 'Root' })).text()).toContain('\n<REL4Report>');
    expect(await (await askTransUnion({ lastName: 'Nohit' })).text()).toContain('<Hit>N</Hit>');
  });

  test('answers wrong credentials and missing elements by errors', async () => {
    expect(await errorCodeOf(await askTransUnion({ lastName: 'Thin' }, { password: 'x' }))).toBe(
      'A001',
    );
    expect(await errorCodeOf(await askTransUnion({ lastName: 'Thin', firstName: '' }))).toBe(
      'R001',
    );
    expect(
      await errorCodeOf(await post('/transunion', '<a/>', { 'content-type': 'text/xml' })),
    ).toBe('R001');
    expect((await post('/transunion', 'a=b')).status).toBe(415);
  });
});

describe('a persona', () => {
  test.each([
    ['Badlogin', 'E0819'],
    ['Tagless', 'E0807'],
    ['Badcity', 'EV304'],
    ['Badprovince', 'EV305'],
  ])('%s gets error %s', async (lastName, code) => {
    expect(await errorCodeOf(await askEquifax({ lastName }))).toBe(code);
  });

  test('gets a file of the day in Toronto', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-03-03T00:30:00Z') });
    try {
      const file = await (await askEquifax({ lastName: 'Thin' })).text();
      expect(file).toContain('<DateOfRequest>2026-03-02</DateOfRequest>');
    } finally {
      vi.useRealTimers();
    }
  });

  test('gets an error of HTTP where that is its answer', async () => {
    expect((await askEquifax({ lastName: 'Unavailable' })).status).toBe(503);
    const busy = await askTransUnion({ lastName: 'Busy' });
    expect([busy.status, busy.headers.get('retry-after')]).toEqual([429, '60']);
  });

  test.each(['Malformed', 'Truncated', 'Bomb'])(
    '%s gets no XML that is well-formed and safe',
    async (lastName) => {
      for (const ask of [askEquifax, askTransUnion]) {
        const answer = await ask({ lastName });
        expect(answer.status).toBe(200);
        expect(readXml(await answer.text())).toBeUndefined();
      }
    },
  );

  test('whose answer is oversized gets 64 MiB, no faster than they are read', async () => {
    const { body } = await askEquifax({ lastName: 'Oversized' });
    let bytes = 0;
    for await (const chunk of body ?? []) {
      bytes += chunk.length;
      if (bytes > 4 * 1024 * 1024) break;
    }
    expect(bytes).toBeGreaterThan(4 * 1024 * 1024);
  });

  test.each(['Dropped', 'Cutoff'])('%s gets no whole answer, and is counted', async (lastName) => {
    const answer = askTransUnion({ lastName });
    await expect(answer.then((it) => it.text())).rejects.toThrow();
    expect(await lastNames()).toEqual([lastName]);
  });

  test('that hangs gets no answer, is counted, and does not keep the simulator from closing', async () => {
    const waiting = expect(askEquifax({ lastName: 'Hanging' })).rejects.toThrow('fetch failed');
    await expect.poll(lastNames).toEqual(['Hanging']);
    await simulator.close();
    await waiting;
    simulator = await startBureauSimulator(OPTIONS);
  });

  test('that is slow is counted at once, and gets no answer before its time', async () => {
    const startedMs = performance.now();
    const asked = askEquifax({ lastName: 'Slow' }).then(
      () => performance.now() - startedMs,
      () => 'cut',
    );
    await expect.poll(lastNames).toEqual(['Slow']);
    await simulator.close();
    // The simulator cuts the request off when it closes, which on a busy machine may be after the answer.
    const ended = await asked;
    if (ended !== 'cut') expect(ended).toBeGreaterThanOrEqual(3_000);
    simulator = await startBureauSimulator(OPTIONS);
  });
});

describe('the list of inquiries', () => {
  test('has source, last name and time, oldest first', async () => {
    const before = Date.now();
    await askEquifax({ lastName: 'Thin' });
    await askTransUnion({ lastName: 'Nobody Special' });
    const answer = await fetch(`${simulator.url}/inquiries`);
    const inquiries = (await answer.json()) as { receivedAt: string }[];
    expect(inquiries).toEqual([
      { source: 'EQUIFAX', lastName: 'Thin', receivedAt: expect.any(String) },
      { source: 'TRANSUNION', lastName: 'Nobody Special', receivedAt: expect.any(String) },
    ]);
    expect(Date.parse(inquiries[0]?.receivedAt ?? '')).toBeGreaterThanOrEqual(before);
  });

  test('has no inquiry whose request was not read whole', async () => {
    const body = equifaxForm({ lastName: 'Thin' }).toString();
    const { port, host } = new URL(simulator.url);
    const client = connect(Number(port), '127.0.0.1').on('error', () => undefined);
    client.write(
      `POST /equifax HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/x-www-form-urlencoded\r\n` +
        `content-length: ${body.length}\r\n\r\n${body.slice(0, -1)}`,
    );
    client.end();
    await once(client.resume(), 'close');
    expect(await lastNames()).toEqual([]);
  });
});

describe('the limits', () => {
  test('a body of more than 256 KiB is refused with 413, and is no inquiry', async () => {
    const form = equifaxForm({ lastName: 'Thin' });
    form.set('padding', 'x'.repeat(256 * 1024));
    expect((await post('/equifax', form)).status).toBe(413);
    expect(await lastNames()).toEqual([]);
  });

  test.each([
    ['head', 'POST /equifax HTTP/1.1\r\n'],
    ['body', 'POST /equifax HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 9\r\n\r\na'],
  ])('a request whose %s does not arrive in time is cut', async (_, start) => {
    const timeouts = { headMs: 100, requestMs: 100, unreadMs: 100 };
    const impatient = await startBureauSimulator({ ...OPTIONS, timeouts });
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(impatient.url).port) });
    socket.on('error', () => undefined).resume();
    socket.write(start);
    await once(socket, 'close');
    await impatient.close();
  });

  test('other paths, methods and pages of other sites are refused', async () => {
    expect((await fetch(`${simulator.url}/nowhere`)).status).toBe(404);
    expect((await fetch(simulator.url)).status).toBe(200);
    const wrong = await fetch(`${simulator.url}/equifax`);
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST']);
    expect((await post('/inquiries', '')).status).toBe(405);
    const headers = { origin: 'https://evil.example' };
    expect((await fetch(`${simulator.url}/inquiries`, { headers })).status).toBe(403);
  });

  test('the personas are listed', async () => {
    const personas = (await (await fetch(`${simulator.url}/personas`)).json()) as object[];
    expect(personas[0]).toEqual({
      source: 'EQUIFAX',
      firstName: 'Carla',
      lastName: 'Complete',
      hitType: 'HIT',
      outcome: 'complete',
    });
  });
});

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { TLSSocket, type TLSSocketOptions } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { createLog } from '@creditlane/runtime/telemetry/log';
import {
  replaceFile,
  TestCertificateAuthority,
} from '@creditlane/runtime/test-certificate-authority';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { equifaxAnswer, FORMATS, transUnionAnswer } from '../test-formats.ts';
import {
  answer,
  FILE,
  inquiryOf,
  LOCAL,
  openTestClient,
  type Script,
  startScriptedBureau,
  stopTime,
  testFormat,
  wordOf,
} from './test-scripted-bureau.ts';

const REDIRECT = ['location: /elsewhere'];
const GZIP = 'content-encoding: gzip';

describe('an answer', () => {
  test.each([
    ['a file', answer(FILE), 'file'],
    ['a compressed file', answer(gzipSync(FILE), 200, [GZIP]), 'file'],
    ['a file with an error status', answer(FILE, 500), 'file'],
    ['a refusal', answer('<error>rejected</error>'), 'rejected'],
    ['a refusal with an error status', answer('<error>credentials</error>', 500), 'credentials'],
    ['no text of the format', answer('<html/>'), 'malformed'],
    ['no body', answer('', 204), 'malformed'],
    ['an unknown content encoding', answer(FILE, 200, ['content-encoding: br']), 'malformed'],
    ['two headers of content encodings', answer(gzipSync(FILE), 200, [GZIP, GZIP]), 'malformed'],
    ['a broken content encoding', answer(FILE, 200, [GZIP]), 'malformed'],
    ['status 400', answer('', 400), 'rejected'],
    ['status 401', answer('', 401), 'credentials'],
    ['status 403', answer('', 403), 'credentials'],
    ['status 404', answer('', 404), 'rejected'],
    ['status 429', answer('', 429), 'unavailable'],
    ['status 500', answer('', 500), 'server_error'],
    ['status 502', answer('', 502), 'server_error'],
    ['status 503', answer('', 503), 'server_error'],
    ['status 302', answer('', 302, REDIRECT), 'redirected'],
    ['status 303', answer('', 303, REDIRECT), 'redirected'],
    ['status 307', answer('', 307, REDIRECT), 'rejected'],
    ['status 308', answer('', 308, REDIRECT), 'rejected'],
  ])('%s → one inquiry', async (_, script, expected) => {
    const bureau = await startScriptedBureau({ inquiry: [script] });
    const { client } = openTestClient();
    const outcome = await client.inquire(inquiryOf(), { baseUrl: bureau.url });
    expect(wordOf(outcome)).toBe(expected);
    expect(bureau.inquiries).toHaveLength(1);
  });

  describe.each(['equifax', 'transunion'] as const)('of %s in Latin-1', (name) => {
    const contents = { equifax: equifaxAnswer(''), transunion: transUnionAnswer('') }[name];
    const body = Buffer.from(`${contents}<!-- Québec -->`, 'latin1');

    test.each([
      ['text/xml; charset=ISO-8859-1', 'file'],
      ['application/xml;Charset="windows-1252"', 'file'],
      ['text/xml', 'malformed'],
      ['text/xml; charset=utf-8', 'malformed'],
      ['charset=ISO-8859-1', 'malformed'],
    ])('with the content type %s → %s', async (contentType, expected) => {
      const inquiry = [answer(body, 200, [`content-type: ${contentType}`])];
      const bureau = await startScriptedBureau({ inquiry });
      const { readRoot } = FORMATS[name];
      const { client } = openTestClient({ format: { ...testFormat, readRoot } });
      const outcome = await client.inquire(inquiryOf(), { baseUrl: bureau.url });
      expect(wordOf(outcome)).toBe(expected);
    });
  });

  test('is read with the inquiry to which it came', async () => {
    const bureau = await startScriptedBureau({});
    const read: string[] = [];
    const readRoot: typeof testFormat.readRoot = (root, inquiry) => {
      read.push(inquiry.reference);
      return testFormat.readRoot(root, inquiry);
    };
    const { client } = openTestClient({ format: { ...testFormat, readRoot } });
    const references = ['a', 'b', 'c'];
    const ask = (it: string) => client.inquire(inquiryOf(it), { baseUrl: bureau.url });
    await Promise.all(references.map(ask));
    expect(read.sort()).toEqual(references);
  });

  test('that makes the format fail → malformed', async () => {
    const bureau = await startScriptedBureau({});
    const readRoot = () => {
      throw new Error('a defect');
    };
    const { client } = openTestClient({ format: { ...testFormat, readRoot } });
    const outcome = await client.inquire(inquiryOf(), { baseUrl: bureau.url });
    expect(wordOf(outcome)).toBe('malformed');
  });
});

describe('an inquiry that is never sent', () => {
  const open = openTestClient;

  test('to a port where nothing listens: connection_refused', async () => {
    const outcome = await open().client.inquire(inquiryOf(), { baseUrl: 'http://127.0.0.1:1' });
    expect(wordOf(outcome)).toBe('connection_refused');
  });

  test.each([
    ['http', { ...LOCAL, allowHttp: false }, 'http://127.0.0.1:1'],
    ['a private address', LOCAL, 'http://10.0.0.1:443'],
    ['loopback', { ...LOCAL, allowLoopback: false }, 'http://localhost:443'],
    ['a host that is not listed', { ...LOCAL, hosts: ['a.example'] }, 'https://b.example'],
    ['no URL', LOCAL, 'b.example'],
  ])('to %s: address_denied', async (_, hostRules, url) => {
    const outcome = await open({ hostRules }).client.inquire(inquiryOf(), { baseUrl: url });
    expect(wordOf(outcome)).toBe('address_denied');
  });

  test('to another URL than that of the credentials, which the format makes: address_denied', async () => {
    const bureau = await startScriptedBureau({});
    const makeRequest: typeof testFormat.makeRequest = (...values) => ({
      ...testFormat.makeRequest(...values),
      url: 'http://10.0.0.1/',
    });
    const { client } = open({ format: { ...testFormat, makeRequest } });
    expect(wordOf(await client.inquire(inquiryOf(), { baseUrl: bureau.url }))).toBe(
      'address_denied',
    );
  });

  test('to a name of a private address: address_denied, unless the host is listed', async () => {
    const bureau = await startScriptedBureau({});
    const url = `http://bureau.example.com:${bureau.port}`;
    const rules = { ...LOCAL, allowLoopback: false, ports: [bureau.port] };
    const resolve = async () => ['127.0.0.1'];
    const denied = await open({ hostRules: rules, resolve }).client.inquire(inquiryOf(), {
      baseUrl: url,
    });
    expect(wordOf(denied)).toBe('address_denied');
    const hostRules = { ...rules, hosts: ['bureau.example.com'] };
    const sent = await open({ hostRules, resolve }).client.inquire(inquiryOf(), { baseUrl: url });
    expect(wordOf(sent)).toBe('file');
  });

  test('to a name without an address: name_unknown', async () => {
    const { client } = open({ resolve: async () => [] });
    const outcome = await client.inquire(inquiryOf(), { baseUrl: 'http://bureau.example.com:443' });
    expect(wordOf(outcome)).toBe('name_unknown');
  });

  test.each([
    ['while its connection is opened', 0, 10_000],
    ['before its connection is opened', 10_000, 0],
  ])(
    'in half of its deadline, as in a process that was suspended %s: deadline',
    async (_, beforeMs, openingMs) => {
      const bureau = await startScriptedBureau({});
      let nowMs = 0;
      const hostRules = { ...LOCAL, ports: [bureau.port], hosts: ['bureau.example.com'] };
      const resolve = async () => {
        nowMs += openingMs;
        return ['127.0.0.1'];
      };
      const { client } = open({ hostRules, resolve, nowMs: () => nowMs });
      const { reference, prepare } = inquiryOf('suspended', () => nowMs);
      const suspended = async () => {
        const prepared = await prepare();
        nowMs += beforeMs;
        return prepared;
      };
      const url = `http://bureau.example.com:${bureau.port}`;
      const outcome = await client.inquire({ reference, prepare: suspended }, { baseUrl: url });
      expect(wordOf(outcome)).toBe('deadline');
      expect(bureau.inquiries).toEqual([]);
    },
  );

  test('for a request that the format cannot make: request_invalid', async () => {
    const makeRequest = () => {
      throw new Error('a defect');
    };
    const { client } = open({ format: { ...testFormat, makeRequest } });
    const outcome = await client.inquire(inquiryOf(), { baseUrl: 'http://127.0.0.1:1' });
    expect(wordOf(outcome)).toBe('request_invalid');
  });

  test('to a bureau whose certificate is not trusted: tls_failed', async () => {
    const { cert, key, ca } = pemOf(new TestCertificateAuthority().issue());
    const bureau = await startScriptedBureau({ tls: { cert, key } });
    const warning = vi.spyOn(process, 'emitWarning').mockReturnValue();
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const refused = await open().client.inquire(inquiryOf(), { baseUrl: bureau.url });
    vi.unstubAllEnvs();
    warning.mockRestore();
    expect(wordOf(refused)).toBe('tls_failed');
    expect(bureau.inquiries).toEqual([]);
    const trusted = await open({ ca }).client.inquire(inquiryOf(), { baseUrl: bureau.url });
    expect(wordOf(trusted)).toBe('file');
  });
});

describe('to a bureau that demands a certificate', () => {
  async function start() {
    const authority = new TestCertificateAuthority();
    const [server, client] = [authority.issue(), authority.issue()];
    const serials: string[] = [];
    const { cert, key, ca } = pemOf(server);
    const bureau = await startScriptedBureau({
      tls: { cert, key, ca, requestCert: true, rejectUnauthorized: true },
      // A new connection for each inquiry.
      inquiry: [answer(FILE, 200, ['connection: close'])],
      onConnection: (socket) =>
        void serials.push((socket as TLSSocket).getPeerCertificate().serialNumber),
    });
    return { authority, client, ca, bureau, serials };
  }

  test('the certificate of the files is presented, and that of new files without a restart', async () => {
    const { authority, client, ca, bureau, serials } = await start();
    const { client: sender } = openTestClient({ ca, clientCertificate: client });
    const inquire = async () => wordOf(await sender.inquire(inquiryOf(), { baseUrl: bureau.url }));
    expect(await inquire()).toBe('file');
    const next = authority.issue();
    // Between the two the files do not fit each other, and the last certificate is used.
    replaceFile(client.cert, next.cert);
    expect(await inquire()).toBe('file');
    replaceFile(client.key, next.key);
    expect(await inquire()).toBe('file');
    expect(serials).toEqual(['02', '02', '03']);
  });

  test('no inquiry is read without the certificate, or with that of another authority', async () => {
    const { ca, bureau } = await start();
    const foreign = new TestCertificateAuthority().issue();
    for (const clientCertificate of [undefined, foreign]) {
      const { client } = openTestClient({ ca, clientCertificate });
      const outcome = await client.inquire(inquiryOf(), { baseUrl: bureau.url });
      // The connection may be reset before its alert is read.
      expect(['tls_failed', 'connection_lost']).toContain(wordOf(outcome));
    }
    expect(bureau.inquiries).toEqual([]);
  });

  test.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'an alert of %s that the certificate is missing: tls_failed',
    async (maxVersion) => {
      const { cert, key, ca } = pemOf(new TestCertificateAuthority().issue());
      const demand = { requestCert: true, rejectUnauthorized: true };
      const url = await startRefusingBureau({ cert, key, ca, ...demand, maxVersion });
      const outcome = await openTestClient({ ca }).client.inquire(inquiryOf(), { baseUrl: url });
      expect(wordOf(outcome)).toBe('tls_failed');
    },
  );

  test('files that are not there: no inquiry is sent', async () => {
    const { ca, bureau } = await start();
    const clientCertificate = { cert: '/nowhere/a.crt', key: '/nowhere/a.key' };
    const { client } = openTestClient({ ca, clientCertificate });
    const outcome = await client.inquire(inquiryOf(), { baseUrl: bureau.url });
    expect(outcome.kind).toBe('never_sent');
    expect(bureau.connections).toBe(0);
  });
});

describe('a breaker', () => {
  test('opens after five failures in a row, for one base URL, and one probe closes it', async () => {
    const fails = Array.from({ length: 5 }, () => answer('', 500));
    const broken = await startScriptedBureau({ inquiry: [...fails, answer(FILE)] });
    const working = await startScriptedBureau({});
    let nowMs = 0;
    const { client, metrics } = openTestClient({ nowMs: () => nowMs });
    const inquire = async ({ url }: { url: string }) =>
      wordOf(
        await client.inquire(
          inquiryOf('a-pull', () => nowMs),
          { baseUrl: url },
        ),
      );
    for (let count = 0; count < 5; count += 1) expect(await inquire(broken)).toBe('server_error');
    expect(await inquire(broken)).toBe('breaker_open');
    expect(await inquire(working)).toBe('file');
    expect(broken.inquiries).toHaveLength(5);
    const gauge = 'creditlane_bureau_breakers{source="EQUIFAX",state=';
    expect(await metrics.text()).toContain(`${gauge}"open"} 1`);
    nowMs += 60_000;
    expect(await metrics.text()).toContain(`${gauge}"half_open"} 1`);
    expect(await Promise.all([inquire(broken), inquire(broken)])).toEqual(['file', 'breaker_open']);
    expect(await inquire(broken)).toBe('file');
    expect(await metrics.text()).toContain(`${gauge}"closed"} 2`);
  });
});

describe('closing', () => {
  /** A bureau that answers once the gate is open. */
  async function startGatedBureau() {
    const gate = Promise.withResolvers<void>();
    const inquiry: Script = (...args) => void gate.promise.then(() => answer(FILE)(...args));
    return { gate, bureau: await startScriptedBureau({ inquiry: [inquiry] }) };
  }

  test('lets an inquiry that was sent end, and sends no further one', async () => {
    const { gate, bureau } = await startGatedBureau();
    const { client } = openTestClient({ maxConnections: 1 });
    const sent = client.inquire(inquiryOf('sent'), { baseUrl: bureau.url });
    await expect.poll(() => bureau.inquiries.length).toBe(1);
    const waiting = client.inquire(inquiryOf('waiting'), { baseUrl: bureau.url });
    const closing = client.close();
    const late = client.inquire(inquiryOf('late'), { baseUrl: bureau.url });
    expect([wordOf(await waiting), wordOf(await late)]).toEqual(['stopping', 'stopping']);
    gate.resolve();
    expect(wordOf(await sent)).toBe('file');
    await closing;
    expect(bureau.inquiries).toHaveLength(1);
  });

  /** Closes a client while the bureau has its inquiry, and stops the time. */
  async function closeWithOneSent() {
    const { gate, bureau } = await startGatedBureau();
    const { client } = openTestClient({ deadlineMs: 20_000 });
    stopTime();
    const sent = client.inquire(inquiryOf(), { baseUrl: bureau.url });
    await expect.poll(() => bureau.inquiries.length).toBe(1);
    return { gate, sent, closing: client.close() };
  }

  test('waits for an answer until the deadline of its inquiry', async () => {
    const { gate, sent, closing } = await closeWithOneSent();
    vi.advanceTimersByTime(19_000);
    gate.resolve();
    expect(wordOf(await sent)).toBe('file');
    await closing;
  });

  test('ends an inquiry whose answer does not come by its deadline: unknown', async () => {
    const { sent, closing } = await closeWithOneSent();
    vi.advanceTimersByTime(20_000);
    expect(await sent).toMatchObject({ kind: 'unknown', reason: 'deadline' });
    await closing;
  });
});

test('the log has the outcome of an inquiry and neither its subject nor the credentials', async () => {
  const lines: string[] = [];
  const log = createLog('test', { destination: { write: (line) => void lines.push(line) } });
  const bureau = await startScriptedBureau({ token: [answer('', 401)] });
  const { client } = openTestClient({ log });
  const credentials = { baseUrl: bureau.url, clientSecret: 'c2VjcmV0' };
  await client.inquire(inquiryOf('pull-1'), credentials);
  await client.inquire(inquiryOf('pull-2'), { baseUrl: 'http://127.0.0.1:1' });
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { reference: 'pull-1', outcome: 'never_sent', reason: 'token_refused', level: 'warn' },
    { reference: 'pull-2', reason: 'connection_refused', err: { code: 'ECONNREFUSED' } },
  ]);
  expect(lines.join()).not.toMatch(/c2VjcmV0|1980-01-01/);
});

function pemOf(issued: { cert: string; key: string; ca: string }) {
  const [cert, key, ca] = [issued.cert, issued.key, issued.ca].map((path) =>
    readFileSync(path, 'utf8'),
  );
  return { cert, key, ca };
}

/** A bureau that leaves a connection open whose handshake it refuses, so that its alert is always read. */
async function startRefusingBureau(tls: TLSSocketOptions): Promise<string> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    const transport = new Duplex({
      read() {},
      write: (chunk, _, done) => void socket.write(chunk, done),
    });
    socket.on('data', (chunk) => transport.push(chunk)).on('error', () => {});
    new TLSSocket(transport, { ...tls, isServer: true }).on('error', () => {});
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

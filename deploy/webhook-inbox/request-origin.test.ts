// A page of another site can neither read nor change the webhook inbox, by its own name or by the inbox's.
import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startWebhookInbox, type WebhookInbox } from './webhook-inbox.ts';

let inbox: WebhookInbox;
let port: string;
const secrets: string[] = [];
beforeEach(async () => {
  inbox = await startWebhookInbox({
    port: 0,
    host: '127.0.0.1',
    secrets: () => secrets,
    addSecret: async (secret) => void secrets.push(secret),
    log: createLog('inbox-test', { level: 'silent' }),
  });
  ({ port } = new URL(inbox.url));
  await call('POST', '/application-approved', {}, '{"conditions":"private"}');
});
afterEach(() => inbox.close());

/** Calls the inbox with any headers, `Host` included, which `fetch` does not permit. */
async function call(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: string,
): Promise<{ status: number; headers: IncomingHttpHeaders; body: string }> {
  const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: false }).end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  // Live updates do not end; a refusal does.
  const isStream = answer.headers['content-type'] === 'text/event-stream';
  const received = isStream ? '' : await text(answer);
  sent.destroy();
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: received };
}

/** Every read and change of the inbox, and a delivery. */
const REQUESTS = [
  ['GET', '/'],
  ['HEAD', '/'],
  ['GET', '/events'],
  ['GET', '/behaviour'],
  ['GET', '/nowhere'],
  ['OPTIONS', '/'],
  ['DELETE', '/'],
  ['PUT', '/behaviour', '{"mode":"fail"}'],
  ['PUT', '/secret', '{"secret":"whsec_AAAA"}'],
  ['POST', '/application-booked', '{}'],
] as const;

/** Checks that the inbox has its one webhook, accepts webhooks, and knows no secret. */
async function expectUnchanged() {
  const { body } = await call('GET', '/');
  expect(JSON.parse(body)).toMatchObject([{ path: '/application-approved' }]);
  expect(JSON.parse((await call('GET', '/behaviour')).body)).toMatchObject({ mode: 'accept' });
  expect(secrets).toEqual([]);
}

describe('by a host that is not the inbox', () => {
  test.each([
    ['another name', () => `evil.example:${port}`],
    ['another name without a port', () => 'evil.example'],
    ['a name that begins like its own', () => `127.0.0.1.evil.example:${port}`],
    ['a name that ends like its own', () => `evil-localhost:${port}`],
    ['its own name with another port', () => 'localhost:1'],
    ['its own name without a port', () => 'localhost'],
    ['its own name with a final dot', () => `localhost.:${port}`],
    ['another address of this machine', () => `0.0.0.0:${port}`],
    ['a user before its own name', () => `evil.example@127.0.0.1:${port}`],
    ['a list with its own name', () => `127.0.0.1:${port}, evil.example`],
  ])('every request is refused: %s', async (_, host) => {
    for (const [method, path, body] of REQUESTS) {
      const answer = await call(method, path, { host: host() }, body);
      expect([method, path, answer.status]).toEqual([method, path, 421]);
      expect(answer.body).not.toContain('private');
    }
    await expectUnchanged();
  });

  test.each([
    ['without Host', 'GET / HTTP/1.1\r\n\r\n'],
    ['with an empty Host', 'GET / HTTP/1.1\r\nHost:\r\n\r\n'],
    ['of HTTP/1.0 without Host', 'GET / HTTP/1.0\r\n\r\n'],
    ['with two of them', 'GET / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nHost: evil.example\r\n\r\n'],
  ])('a request %s is refused', async (_, lines) => {
    const socket = connect(Number(port), '127.0.0.1').end(lines.replace('PORT', port));
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 4(00|21) /);
    expect(answer).not.toContain('private');
  });
});

describe('by the address of the inbox', () => {
  test.each([
    ['Origin of another site', () => ({ origin: 'https://evil.example' })],
    ['Origin of another port of this machine', () => ({ origin: 'http://127.0.0.1:1' })],
    ['Origin of another scheme', () => ({ origin: `https://127.0.0.1:${port}` })],
    ['Origin of another name of this machine', () => ({ origin: `http://localhost:${port}` })],
    ['opaque Origin', () => ({ origin: 'null' })],
    ['Sec-Fetch-Site: cross-site', () => ({ 'sec-fetch-site': 'cross-site' })],
    ['Sec-Fetch-Site: same-site', () => ({ 'sec-fetch-site': 'same-site' })],
  ])('every request of a foreign page is refused: %s', async (_, foreign) => {
    for (const [method, path, body] of REQUESTS) {
      const answer = await call(method, path, foreign(), body);
      expect([method, path, answer.status]).toEqual([method, path, 403]);
      expect(answer.body).not.toContain('private');
    }
    await expectUnchanged();
  });

  test.each(['127.0.0.1', 'localhost', 'LOCALHOST', '[::1]'])(
    'as %s its own page and programs may read and change it',
    async (name) => {
      const host = `${name}:${port}`;
      const ownPage = { host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' };
      for (const headers of [{ host }, { host, 'sec-fetch-site': 'none' }, ownPage]) {
        expect((await call('GET', '/', { ...headers, accept: 'text/html' })).status).toBe(200);
        expect((await call('GET', '/events', headers)).status).toBe(200);
        const behaviour = await call('PUT', '/behaviour', headers, '{"mode":"accept"}');
        expect(behaviour.status).toBe(200);
        expect((await call('POST', '/application-booked', headers, '{}')).status).toBe(204);
        expect((await call('DELETE', '/', headers)).status).toBe(204);
      }
    },
  );
});

test('every answer has the security headers, also a refusal and an error', async () => {
  const answers = await Promise.all([
    ...REQUESTS.map(([method, path, body]) => call(method, path, {}, body)),
    call('GET', '/', { accept: 'text/html' }),
    call('GET', '/', { host: 'evil.example' }),
    call('GET', '/', { origin: 'null' }),
    call('PUT', '/behaviour', {}, 'no JSON'),
    call('POST', '/large', {}, 'x'.repeat(1024 * 1024 + 1)),
  ]);
  for (const { headers } of answers) {
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
      'cache-control': 'no-store',
      'content-security-policy': expect.stringMatching(
        /default-src 'none'.*frame-ancestors 'none'/,
      ),
    });
    expect(headers).not.toHaveProperty('access-control-allow-origin');
  }
  secrets.length = 0;
});

import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createLog } from '../telemetry/log.ts';
import { type DevelopmentServer, startDevelopmentServer } from './development-server.ts';

let server: DevelopmentServer;
let port: string;
/** The requests that the server took. */
let handled: string[];
beforeEach(async () => {
  handled = [];
  server = await startDevelopmentServer({
    name: 'the test server',
    host: '127.0.0.1',
    port: 0,
    log: createLog('test', { level: 'silent' }),
    handle({ method, url = '' }, response) {
      handled.push(`${method} ${url}`);
      if (url === '/fails') throw new Error('no answer');
      response.end('private');
    },
  });
  ({ port } = new URL(server.url));
});
afterEach(() => server.close());

/** Calls the server with any headers, `Host` included, which `fetch` does not permit. */
async function call(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: string,
): Promise<{ status: number; headers: IncomingHttpHeaders; body: string }> {
  const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: false }).end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: await text(answer) };
}

const REQUESTS = [
  ['GET', '/'],
  ['HEAD', '/'],
  ['OPTIONS', '/'],
  ['DELETE', '/'],
  ['PUT', '/', '{}'],
  ['POST', '/', '{}'],
] as const;

async function expectRefused(headers: Record<string, string>, status: number): Promise<void> {
  for (const [method, path, body] of REQUESTS) {
    const answer = await call(method, path, headers, body);
    expect([method, answer.status]).toEqual([method, status]);
    expect(answer.body).not.toContain('private');
  }
  expect(handled).toEqual([]);
}

describe('by a host that is not the server', () => {
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
    await expectRefused({ host: host() }, 421);
  });

  test.each([
    ['without Host', 'GET / HTTP/1.1\r\n\r\n'],
    ['with an empty Host', 'GET / HTTP/1.1\r\nHost:\r\n\r\n'],
    ['of HTTP/1.0 without Host', 'GET / HTTP/1.0\r\n\r\n'],
    ['with two of them', 'GET / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nHost: evil.example\r\n\r\n'],
  ])('a request %s is refused', async (_, lines) => {
    const socket = connect(Number(port), '127.0.0.1').end(lines.replace('PORT', port));
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 4(00|21) /);
    expect(handled).toEqual([]);
  });
});

describe('by the address of the server', () => {
  test.each([
    ['Origin of another site', () => ({ origin: 'https://evil.example' })],
    ['Origin of another port of this machine', () => ({ origin: 'http://127.0.0.1:1' })],
    ['Origin of another scheme', () => ({ origin: `https://127.0.0.1:${port}` })],
    ['Origin of another name of this machine', () => ({ origin: `http://localhost:${port}` })],
    ['opaque Origin', () => ({ origin: 'null' })],
    ['Sec-Fetch-Site: cross-site', () => ({ 'sec-fetch-site': 'cross-site' })],
    ['Sec-Fetch-Site: same-site', () => ({ 'sec-fetch-site': 'same-site' })],
  ])('every request of a foreign page is refused: %s', async (_, foreign) => {
    await expectRefused(foreign(), 403);
  });

  test.each(['127.0.0.1', 'localhost', 'LOCALHOST', '[::1]'])(
    'as %s every request of its own page and of programs is taken',
    async (name) => {
      const host = `${name}:${port}`;
      const ownPage = { host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' };
      for (const headers of [{ host }, { host, 'sec-fetch-site': 'none' }, ownPage]) {
        for (const [method, path, body] of REQUESTS) {
          expect((await call(method, path, headers, body)).status).toBe(200);
        }
      }
      expect(handled).toHaveLength(3 * REQUESTS.length);
    },
  );
});

test('every answer has the security headers, also a refusal and an error', async () => {
  const answers = await Promise.all([
    call('GET', '/'),
    call('GET', '/fails'),
    call('GET', '/', { host: 'evil.example' }),
    call('GET', '/', { origin: 'null' }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 500, 421, 403]);
  for (const { headers } of answers) {
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    });
    expect(headers).not.toHaveProperty('access-control-allow-origin');
  }
});

// Bytes that Node cannot parse, or that do not come in time, behind requests that are under way.
import { once } from 'node:events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTestSocket, requestText } from '../test-socket.ts';
import { type Listener, startListener } from './listener.ts';

const GET = requestText('GET /', ['Host: gateway']);
const GARBAGE = 'no request\r\n\r\n';
const SHORT_MS = 1_000;

let listener: Listener;
let answer: () => void;
let refusals: string[];
/** The methods of the requests that were handled, and of those whose body came in full. */
let handled: { begun: unknown[]; read: unknown[] };

beforeEach(() => start(10_000));
afterEach(() => listener.close());

/** `headMs` is how long a head may take, and a request. */
async function start(headMs: number): Promise<void> {
  refusals = [];
  handled = { begun: [], read: [] };
  const mayAnswer = new Promise<void>((resolve) => {
    answer = resolve;
  });
  listener = await startListener(
    {
      host: '127.0.0.1',
      port: 0,
      graceMs: 0,
      timeouts: { headMs, requestMs: headMs, unreadMs: 10_000 },
      onRefusal: (code) => refusals.push(code),
    },
    (req, res) => {
      handled.begun.push(req.method);
      const read = once(req.resume(), 'end').then(() => handled.read.push(req.method));
      void Promise.all([mayAnswer, read]).then(
        () => res.end(`answer to ${req.method}`),
        () => {},
      );
    },
  );
}

const statusesOf = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));

test('bytes that are no request are refused at once', async () => {
  const { closed } = await openTestSocket(listener.port, GARBAGE);
  expect(await closed).toMatch(/^HTTP\/1\.1 400 .*"code":"malformed_request"/s);
});

test('bytes that are no request are refused after the answers to the requests before them', async () => {
  const { closed, socket } = await openTestSocket(listener.port, GET + GET + GARBAGE);
  socket.write(GARBAGE);
  await expect.poll(() => refusals).toEqual(['malformed_request']);
  answer();
  const text = await closed;
  expect(statusesOf(text)).toEqual([200, 200, 400]);
  expect(text).toMatch(/answer to GET.*answer to GET.*malformed_request/s);
});

test('bytes that are no chunk are refused as the answer to the request whose body they are in', async () => {
  const post = requestText('POST /', ['Host: gateway', 'Transfer-Encoding: chunked'], GARBAGE);
  const alone = await openTestSocket(listener.port, post);
  expect(statusesOf(await alone.closed)).toEqual([400]);
  const second = await openTestSocket(listener.port, GET + post);
  await expect.poll(() => refusals.length).toBe(2);
  answer();
  expect(statusesOf(await second.closed)).toEqual([200, 400]);
  expect(handled.begun).toEqual(['POST', 'GET']);
});

test.each([
  { what: 'a head', sent: 'POST / HTTP/1.1\r\nHost: gate', rest: 'way\r\n\r\n' },
  {
    what: 'a body',
    sent: requestText('POST /', ['Host: gateway', 'Content-Length: 4'], 'bo'),
    rest: 'dy',
  },
])(
  'a request behind another one is refused when $what takes too long, and not handled when it comes later',
  async ({ sent, rest }) => {
    await listener.close();
    await start(SHORT_MS);
    const { closed, socket } = await openTestSocket(listener.port, GET + sent);
    await expect.poll(() => refusals).toEqual(['request_timeout']);
    socket.write(rest);
    answer();
    expect(statusesOf(await closed)).toEqual([200, 408]);
    expect(handled.read).toEqual(['GET']);
  },
);

test('a client that ends the connection within its first request is told that the request is malformed', async () => {
  const { closed, socket } = await openTestSocket(listener.port, 'POST / HT');
  socket.end();
  expect(await closed).toMatch(/^HTTP\/1\.1 400 .*"code":"malformed_request"/s);
});

test('a client that ends the connection within a request behind another one gets no answer', async () => {
  const { closed, socket } = await openTestSocket(listener.port, `${GET}POST / HT`);
  socket.end();
  expect(await closed).toBe('');
});

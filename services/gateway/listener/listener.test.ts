import { once } from 'node:events';
import { setInterval, setTimeout } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openTestSocket, requestText, type TestSocket } from '../test-socket.ts';
import { startListener } from './listener.ts';

const HEAD_MS = 300;
const REQUEST_MS = 600;
const UNREAD_MS = 500;
/** A client sends one byte at a time, and never pauses long enough to look idle. */
const TRICKLE_MS = 50;

const ADDRESS = { host: '127.0.0.1', port: 0, graceMs: 0 };
/** How many heads of requests the listener has read. */
let handled = 0;
const listener = await startListener(
  {
    ...ADDRESS,
    timeouts: { headMs: HEAD_MS, requestMs: REQUEST_MS, unreadMs: UNREAD_MS },
  },
  (req, res) => {
    handled += 1;
    req.resume().on('end', () => res.end('read'));
  },
);
afterAll(() => listener.close());

/** Sends the text, and then the byte again and again. Returns the answer, and when the connection closed. */
async function trickle(text: string, byte: string): Promise<{ answer: string; closedMs: number }> {
  const startedMs = performance.now();
  const { socket, closed } = await openTestSocket(listener.port, text);
  const abort = new AbortController();
  const sending = (async () => {
    for await (const _ of setInterval(TRICKLE_MS, undefined, { signal: abort.signal })) {
      if (socket.writable) socket.write(byte);
    }
  })().catch(() => {});
  const answer = await closed;
  abort.abort();
  await sending;
  return { answer, closedMs: performance.now() - startedMs };
}

describe('a request that does not arrive in time', () => {
  // By default Node looks for late requests every 30 s: half of that shows the difference, and permits a busy machine to be late.
  const MARGIN_MS = 15_000;

  test.each([
    { what: 'nothing at all', text: '', byte: '', afterMs: HEAD_MS },
    { what: 'a head that never ends', text: 'GET / HTTP/1.1\r\nX: ', byte: 'x', afterMs: HEAD_MS },
    {
      what: 'a body of a declared length',
      text: requestText('POST /', ['Host: gateway', 'Content-Length: 1000']),
      byte: 'x',
      afterMs: REQUEST_MS,
    },
    {
      what: 'a body in chunks',
      text: requestText('POST /', ['Host: gateway', 'Transfer-Encoding: chunked']),
      byte: '1\r\nx\r\n',
      afterMs: REQUEST_MS,
    },
  ])('with $what is answered with 408 soon after its limit', async (sent) => {
    handled = 0;
    const { answer, closedMs } = await trickle(sent.text, sent.byte);
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toContain('"code":"request_timeout"');
    // When the machine pauses, the head that was sent in time may be read only after its limit, which then ends the request.
    const limitMs = handled === 1 ? sent.afterMs : HEAD_MS;
    expect(closedMs).toBeGreaterThan(limitMs - TRICKLE_MS);
    expect(closedMs).toBeLessThan(sent.afterMs + MARGIN_MS);
  });
});

describe('an answer of 32 MB', () => {
  const ANSWER = Buffer.alloc(32 * 1024 * 1024, 'x');
  const refusals: string[] = [];
  const open = new Set<object>();
  let asked = 0;
  let port: number;
  let close: () => Promise<void>;

  beforeAll(async () => {
    const timeouts = { headMs: 10_000, requestMs: 10_000, unreadMs: UNREAD_MS };
    const onRefusal = (code: string) => refusals.push(code);
    ({ port, close } = await startListener({ ...ADDRESS, timeouts, onRefusal }, (req, res) => {
      asked += 1;
      open.add(res);
      res.on('close', () => open.delete(res));
      res.end(req.url === '/small' ? 'served' : ANSWER);
    }));
  });
  afterAll(() => close());

  test('that its client does not read is cut and counted, also while the client sends', async () => {
    asked = 0;
    const silent = await openTestSocket(port, requestText('GET /', ['Host: gateway']));
    silent.socket.pause();
    const sending = await openTestSocket(port, requestText('GET /', ['Host: gateway']));
    sending.socket.pause();
    sending.socket.write('GET / HTTP/1.1\r\nX: ');
    const timer = globalThis.setInterval(() => sending.socket.write('x'), TRICKLE_MS);
    try {
      await expect.poll(() => asked).toBe(2);
      await expect.poll(() => open.size).toBe(0);
    } finally {
      clearInterval(timer);
      silent.socket.destroy();
      sending.socket.destroy();
    }
    expect(refusals).toEqual(['answer_not_read', 'answer_not_read']);
  });

  test('that its client reads slowly arrives in full, and its connection is served again', async () => {
    refusals.length = 0;
    const client = await openTestSocket(port, requestText('GET /', ['Host: gateway']));
    const startedMs = performance.now();
    readSlowly(client);
    const bytes = () => client.received().length;
    await expect.poll(bytes, { timeout: 15_000 }).toBeGreaterThan(ANSWER.length);
    expect(performance.now() - startedMs).toBeGreaterThan(2 * UNREAD_MS);
    // An idle connection has nothing to send, and is kept.
    await setTimeout(2 * UNREAD_MS);
    client.socket.write(requestText('GET /small', ['Host: gateway']));
    await expect.poll(() => client.received().endsWith('served')).toBe(true);
    client.socket.destroy();
    expect(refusals).toEqual([]);
  });

  test('is not cut when the process, and not its client, was held up', async () => {
    const client = await openWithUnreadAnswer(port);
    refusals.length = 0;
    const bytes = () => client.received().length;
    expect(bytes()).toBeLessThan(ANSWER.length);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * UNREAD_MS);
    client.socket.resume();
    await expect.poll(bytes, { timeout: 15_000 }).toBeGreaterThan(ANSWER.length);
    client.socket.destroy();
    expect(refusals).toEqual([]);
  });
});

/** Opens a client that has left its answer unread for at least one check of the listener, and for less time than it may. */
async function openWithUnreadAnswer(port: number): Promise<TestSocket> {
  for (;;) {
    const client = await openTestSocket(port, requestText('GET /', ['Host: gateway']));
    await once(client.socket, 'data');
    client.socket.pause();
    const pausedMs = performance.now();
    await setTimeout(UNREAD_MS / 2);
    // On a busy machine the timer may be late: then another client is opened.
    if (performance.now() - pausedMs < 0.7 * UNREAD_MS) return client;
    client.socket.destroy();
  }
}

/** Reads a megabyte at a time, with pauses that are short to the server. */
function readSlowly({ socket }: TestSocket): void {
  let bytes = 0;
  socket.on('data', (data) => {
    bytes += data.length;
    if (bytes < 1024 * 1024) return;
    bytes = 0;
    socket.pause();
    globalThis.setTimeout(() => socket.resume(), UNREAD_MS / 10);
  });
}

describe('with as many connections as the limit allows', () => {
  const MAX = 20;
  const text = (path: string) => requestText(`GET ${path}`, ['Host: gateway']);
  let waiting: number;
  let refusals: string[];
  let full: Awaited<ReturnType<typeof startListener>>;
  let clients: TestSocket[];
  const fill = async (request: string, count = MAX) => {
    for (let i = 0; i < count; i += 1) clients.push(await openTestSocket(full.port, request));
  };
  const served = () => clients.flatMap((one) => one.statuses()).length;
  const closedOf = () => clients.map(({ socket }) => socket.destroyed);

  beforeEach(async () => {
    [refusals, clients, waiting] = [[], [], 0];
    full = await startListener(
      {
        ...ADDRESS,
        maxConnections: MAX,
        isAuthenticated: (res) => res.hasHeader('RateLimit'),
        onRefusal: (code) => refusals.push(code),
      },
      (req, res) => {
        if (req.url?.endsWith('/with-key')) res.setHeader('RateLimit', 'x');
        if (req.url?.startsWith('/waits')) waiting += 1;
        else res.end('served');
      },
    );
  });
  afterEach(async () => {
    for (const { socket } of clients) socket.destroy();
    await full.close();
  });

  test('all idle, a new one is served, and the one idle longest without a key is closed', async () => {
    await fill(text('/with-key'), 1);
    await fill(text('/'), MAX - 1);
    await expect.poll(served).toBe(MAX);
    await fill(text('/'), 1);
    await expect.poll(served).toBe(MAX + 1);
    await expect.poll(closedOf).toEqual(clients.map((_, index) => index === 1));
    expect(refusals).toEqual([]);
  });

  test.each([
    { what: 'without a key', request: text('/waits') },
    {
      what: 'that is still arriving',
      request: requestText('POST /waits/with-key', ['Host: gateway', 'Content-Length: 9'], 'part'),
    },
  ])(
    'all with a request under way $what, a new one is served, and the first of them is closed and counted',
    async ({ request }) => {
      await fill(text('/waits/with-key'), 1);
      await fill(request, MAX - 1);
      await expect.poll(() => waiting).toBe(MAX);
      await fill(text('/'), 1);
      await expect.poll(served).toBe(1);
      await expect.poll(closedOf).toEqual(clients.map((_, index) => index === 1));
      expect(refusals).toEqual(['too_many_connections']);
    },
  );

  test('all with a request under way that is served, a new one is closed and counted, until a place is free', async () => {
    await fill(text('/waits/with-key'));
    await expect.poll(() => waiting).toBe(MAX);
    expect(await (await openTestSocket(full.port, text('/'))).closed).toBe('');
    expect(refusals).toEqual(['too_many_connections']);
    clients[0]?.socket.destroy();
    await expect
      .poll(async () => (await openAndEnd(full.port, text('/'))).length)
      .toBeGreaterThan(0);
  });
});

/** What the server sends before it closes the connection, which the client ends with its request. */
async function openAndEnd(port: number, text: string): Promise<string> {
  const { socket, closed } = await openTestSocket(port, text);
  socket.end();
  return closed;
}

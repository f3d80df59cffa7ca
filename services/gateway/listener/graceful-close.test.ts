// What clients with persistent connections see of a gateway that closes while they send.
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { pickOne, seededRandom } from '@creditlane/runtime/test-seeded-random';
import { afterEach, expect, test } from 'vitest';
import { connectFromThread, openTestSocket, requestText } from '../test-socket.ts';
import { type Listener, type ListenerOptions, startListener } from './listener.ts';

const CLIENTS = 30;
const WAITING = 100;

let listener: Listener;
let isDraining: boolean;
/** Called with each request that has arrived. */
let onArrival: (req: IncomingMessage) => void;
afterEach(async () => {
  if (!listener.closing) await listener.close();
});

/** Answers after 0 to 40 ms. */
async function start(options: Partial<ListenerOptions> = {}): Promise<void> {
  const random = seededRandom(7);
  isDraining = false;
  onArrival = () => undefined;
  listener = await startListener(
    { host: '127.0.0.1', port: 0, graceMs: 5_000, isDraining: () => isDraining, ...options },
    (req, res) => {
      onArrival(req);
      const answer = () => res.end('answered');
      req.resume().on('end', () => setTimeout(answer, pickOne(random, [0, 0, 1, 5, 40])));
    },
  );
}

/** The last answer's `Connection` header, or the error of a request on a connection that was open before. */
type End = { connection?: string | undefined } | { failure: Error };

/**
 * Sends POSTs one after the other on one connection, with pauses of up to 20 ms. A client that finds no
 * connection any more goes to another replica: that is not a failure.
 */
async function sendUntilClosed(seed: number, onAnswer: () => void): Promise<End> {
  const random = seededRandom(seed);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    for (let last: End = {}; ; ) {
      const end = await sendOne(agent);
      if (end === undefined) return last;
      last = end;
      onAnswer();
      if ('failure' in end || end.connection === 'close') return end;
      await delay(pickOne(random, [0, 0, 1, 3, 20]));
    }
  } finally {
    agent.destroy();
  }
}

/** Starts the clients; resolves once each has an answer, with what each will see at its end. */
async function startClients(): Promise<{ ends: Promise<End[]> }> {
  const answered = new Set<number>();
  const all = Promise.withResolvers<void>();
  const clients = Array.from({ length: CLIENTS }, (_, seed) =>
    sendUntilClosed(seed, () => {
      if (answered.add(seed).size === CLIENTS) all.resolve();
    }),
  );
  await all.promise;
  return { ends: Promise.all(clients) };
}

/** Undefined when no connection could be opened. */
function sendOne(agent: Agent): Promise<End | undefined> {
  return new Promise((resolve) => {
    const sending = request({ agent, method: 'POST', host: '127.0.0.1', port: listener.port });
    sending.on('response', (response) => {
      response.resume().on('end', () => resolve({ connection: response.headers.connection }));
      response.on('error', (failure) => resolve({ failure }));
    });
    sending.on('error', (failure) => resolve(sending.reusedSocket ? { failure } : undefined));
    sending.end('{}');
  });
}

test('no request fails, and the last answer of each connection says that it closes', async () => {
  // Idle connections stay open for far longer than a client pauses, also on a busy machine.
  await start({ closeIdleMs: 60_000, graceMs: 60_000 });
  const { ends } = await startClients();
  const closed = listener.close();
  expect(await ends).toEqual(Array(CLIENTS).fill({ connection: 'close' }));
  await closed;
});

test('connections that wait to be accepted when the gateway begins to close are answered, and told that they close', async () => {
  await start();
  const { connected, ends } = connectFromThread(listener.port, WAITING);
  // The event loop stands still, so that the system queues the connections.
  Atomics.wait(connected, 0, 0);
  const closed = listener.close();
  const [answers] = await ends;
  expect(answers).toEqual(
    Array(WAITING).fill(expect.stringMatching(/^HTTP\/1.1 200 .*\r\nConnection: close\r\n/s)),
  );
  await closed;
});

test('before it closes, a gateway that becomes unready answers, and lets each connection end', async () => {
  await start();
  const { ends } = await startClients();
  isDraining = true;
  expect(await ends).toEqual(Array(CLIENTS).fill({ connection: 'close' }));
  expect(await sendOne(new Agent())).toEqual({ connection: 'close' });
});

test('an idle connection is kept for a while after the gateway begins to close', async () => {
  await start();
  const { socket, closed } = await openTestSocket(listener.port);
  socket.write(requestText('POST /', ['Host: gateway', 'Content-Length: 0']));
  await once(socket, 'data');
  const beganMs = performance.now();
  await Promise.all([listener.close(), closed]);
  expect(performance.now() - beganMs).toBeGreaterThan(200);
});

test('a connection on which nothing was sent is closed like an idle one', async () => {
  // Longer than the test may take.
  await start({ graceMs: 600_000 });
  const { closed } = await openTestSocket(listener.port);
  // Once this one is answered, the server has accepted the other.
  await sendOne(new Agent());
  await Promise.all([listener.close(), closed]);
});

test('a request that arrives before the gateway becomes unready is answered with the end of its connection', async () => {
  await start();
  onArrival = () => {
    isDraining = true;
  };
  expect(await sendOne(new Agent({ keepAlive: true }))).toEqual({ connection: 'close' });
});

// It ends a connection two seconds before the announced time: at once when that is two seconds or less.
test("half a second later, Node's fetch sends its next request on the same connection", async () => {
  await start();
  const sockets = new Set<unknown>();
  let isReused = false;
  onArrival = ({ socket }) => {
    isReused = sockets.has(socket);
    sockets.add(socket);
  };
  const send = async () => {
    await (await fetch(listener.url, { method: 'POST', body: '{}' })).text();
    return isReused;
  };
  // On a busy machine the pause may be longer than the connection is kept; then a later pair of requests shares one.
  await expect.poll(send, { interval: 500 }).toBe(true);
});

test('an answer announces an idle time of 4 s, and none when it ends the connection', async () => {
  await start();
  const headersOf = async (sent: Record<string, string>) => {
    const sending = request({
      agent: new Agent({ keepAlive: true }),
      port: listener.port,
      headers: sent,
    });
    const [response] = await once(sending.end(), 'response');
    response.resume();
    return [response.headers.connection, response.headers['keep-alive']];
  };
  expect(await headersOf({})).toEqual(['keep-alive', 'timeout=4']);
  expect(await headersOf({ connection: 'close' })).toEqual(['close', undefined]);
  isDraining = true;
  expect(await headersOf({})).toEqual(['close', undefined]);
});

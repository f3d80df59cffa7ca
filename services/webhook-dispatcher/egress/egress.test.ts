import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { egress, NEVER_MS, post, receiver } from './test-egress.ts';

/** The places of the counters that a receiver in another thread has. */
const [REQUESTS, ANSWERS] = [0, 1];

/** A receiver in another thread, which goes on while this thread is blocked. It counts requests and answers. */
async function receiverInWorker(): Promise<{ counts: Int32Array; url: string }> {
  const counts = new Int32Array(new SharedArrayBuffer(8));
  const program = `
    const { createServer } = require('node:http');
    const { parentPort, workerData: counts } = require('node:worker_threads');
    const server = createServer((request, response) => {
      Atomics.add(counts, ${REQUESTS}, 1);
      response.writeHead(204).end(() => {
        Atomics.add(counts, ${ANSWERS}, 1);
        Atomics.notify(counts, ${ANSWERS});
      });
    });
    server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`;
  const worker = new Worker(program, { eval: true, workerData: counts });
  onTestFinished(async () => void (await worker.terminate()));
  const [port] = await once(worker, 'message');
  return { counts, url: `http://127.0.0.1:${port}` };
}

function blockThread(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** No server listens there, and none of another test begins to. */
const REFUSING = 'http://127.0.0.1:1';

describe('posting a webhook', () => {
  test('sends exactly the given bytes and headers to the event’s path', async () => {
    const seen: unknown[] = [];
    const { url } = await receiver(async (request, response) => {
      const chunks = await request.toArray();
      seen.push([
        request.method,
        request.url,
        request.headers['x-one'],
        Buffer.concat(chunks).toString(),
      ]);
      response.writeHead(204).end();
    });
    const outcome = await egress().post({ ...post, destinationUrl: `${url}/hook` });
    expect(outcome).toEqual({ kind: 'answered', status: 204 });
    expect(seen).toEqual([['POST', '/hook/application-booked', '1', '{"é":1}']]);
  });

  test('sends a path and a query that a server of strict rules takes', async () => {
    const targets: (string | undefined)[] = [];
    const { url } = await receiver((request, response) => {
      targets.push(request.url);
      response.end();
    });
    await egress().post({ ...post, destinationUrl: `${url}/a|b[0]?c={d}\\` });
    expect(targets).toEqual(['/a%7Cb%5B0%5D/application-booked?c=%7Bd%7D%5C']);
  });

  test.each([
    ['a new connection, which stays open,', { before: 0, connections: 1 }],
    ['a kept connection, which stays open,', { before: 1, connections: 1 }],
  ])('sends nothing over %s when the request must not be sent any more', async (_, expected) => {
    const { before, connections } = expected;
    const seen: unknown[] = [];
    const { server, url } = await receiver((request, response) => {
      seen.push(request.url);
      response.end();
    });
    let made = 0;
    server.on('connection', () => {
      made += 1;
    });
    const out = egress();
    const to = { ...post, destinationUrl: url };
    for (let n = 0; n < before; n += 1) await out.post(to);
    let isSent = false;
    const onSent = () => {
      isSent = true;
    };
    expect(await out.post({ ...to, maySend: () => false, onSent })).toBeUndefined();
    expect(isSent).toBe(false);
    expect(await out.post({ ...to, maySend: () => true })).toMatchObject({ status: 200 });
    expect(seen).toHaveLength(before + 1);
    expect(made).toBe(connections);
  });

  test('reuses a connection, and opens another when the receiver has closed it', async () => {
    const connections: Socket[] = [];
    const { server, url } = await receiver((_, response) => response.end('ok'));
    server.on('connection', (socket) => connections.push(socket));
    const out = egress();
    for (let n = 1; n <= 3; n += 1) {
      for (let m = 0; m < 10; m += 1) {
        expect(await out.post({ ...post, destinationUrl: url })).toMatchObject({ status: 200 });
      }
      expect(connections).toHaveLength(n);
      // The socket closes after both sides have ended it.
      await once(connections.at(-1)?.end() ?? expect.unreachable(), 'close');
    }
  });

  test('takes no surplus answer for that of the next request, also before it was read', async () => {
    const sockets: Socket[] = [];
    const { server, url } = await receiver((_, response) => {
      response.writeHead(sockets.length === 1 ? 500 : 503).end();
    });
    server.on('connection', (socket) => sockets.push(socket));
    const out = egress();
    const send = () => out.post({ ...post, destinationUrl: url });
    expect(await send()).toMatchObject({ status: 500 });
    // The system has these bytes at once; this process has not read them when it sends the next request.
    sockets[0]?.write('HTTP/1.1 200 Surplus\r\nContent-Length: 0\r\n\r\n');
    expect(await send()).toMatchObject({ status: 503 });
    expect(sockets).toHaveLength(2);
  });

  test('opens no more connections than allowed, and sends all requests', async () => {
    let open = 0;
    let mostOpen = 0;
    const { server, url } = await receiver((_, response) =>
      setTimeout(5).then(() => response.end()),
    );
    server.on('connection', (socket) => {
      open += 1;
      mostOpen = Math.max(mostOpen, open);
      socket.on('close', () => {
        open -= 1;
      });
    });
    const out = egress({ connectionsPerDestination: 3 });
    const posts = Array.from({ length: 30 }, () => out.post({ ...post, destinationUrl: url }));
    for (const outcome of await Promise.all(posts)) expect(outcome).toMatchObject({ status: 200 });
    expect(mostOpen).toBe(3);
  });

  describe('above its limit of idle connections', () => {
    /** A receiver, and the places of its connections that have closed. */
    async function countingReceiver() {
      const closed: number[] = [];
      const sockets: Socket[] = [];
      const { server, url } = await receiver((_, response) => response.end());
      server.on('connection', (socket) => {
        const place = sockets.push(socket) - 1;
        socket.on('close', () => closed.push(place));
      });
      return { url, sockets, closed };
    }

    test('closes the one that was idle longest, of whichever destination', async () => {
      const { url, sockets, closed } = await countingReceiver();
      const out = egress({ maxIdleConnections: 2 });
      const send = (destinationId: string) =>
        out.post({ ...post, destinationId, destinationUrl: url });
      for (const id of ['a', 'b', 'a', 'c']) expect(await send(id)).toMatchObject({ status: 200 });
      // At once, while the connection may still be closing.
      expect(await send('b')).toMatchObject({ status: 200 });
      await expect.poll(() => closed).toEqual([1, 0]);
      expect(sockets).toHaveLength(4);
    });

    test('does not count connections that the receiver has closed', async () => {
      const { url, sockets, closed } = await countingReceiver();
      const out = egress({ maxIdleConnections: 2 });
      const send = (destinationId: string) =>
        out.post({ ...post, destinationId, destinationUrl: url });
      for (const id of ['a', 'b']) expect(await send(id)).toMatchObject({ status: 200 });
      sockets[1]?.destroy();
      await expect.poll(() => closed).toEqual([1]);
      // Sent over a new connection: the end of the earlier one has arrived.
      await vi.waitFor(async () => {
        expect(await send('b')).toMatchObject({ status: 200 });
        expect(sockets).toHaveLength(3);
      }, 15_000);
      expect(await send('a')).toMatchObject({ status: 200 });
      expect(closed).toEqual([1]);
      expect(sockets).toHaveLength(3);
    });
  });

  test('resolves to no outcome when it is closed meanwhile', async () => {
    const { url } = await receiver(() => {});
    const out = egress({ connectionsPerDestination: 1 });
    const posts = [1, 2].map(() => out.post({ ...post, destinationUrl: url }));
    await setTimeout(20);
    await out.close();
    expect(await Promise.all(posts)).toEqual([undefined, undefined]);
  });

  test('sends nothing after it is closed', async () => {
    let requests = 0;
    const { url } = await receiver((_, response) => {
      requests += 1;
      response.end();
    });
    const out = egress();
    await out.close();
    expect(await out.post({ ...post, destinationUrl: url })).toBeUndefined();
    expect(requests).toBe(0);
  });

  test('ends a request to a destination that is no longer cached when it is closed', async () => {
    const { url } = await receiver(() => {});
    const out = egress();
    const hanging = out.post({ ...post, destinationUrl: url });
    const others = Array.from({ length: 1_100 }, (_, n) =>
      out.post({ ...post, destinationId: `other ${n}`, destinationUrl: REFUSING }),
    );
    await Promise.all(others);
    await out.close();
    expect(await hanging).toBeUndefined();
  });

  test('does not follow a redirect', async () => {
    let requests = 0;
    const { url } = await receiver((_, response) => {
      requests += 1;
      response.writeHead(307, { location: '/elsewhere' }).end();
    });
    const outcome = await egress().post({ ...post, destinationUrl: url });
    expect(outcome).toEqual({ kind: 'answered', status: 307 });
    expect(requests).toBe(1);
  });

  test('returns the delay that a receiver asks for by Retry-After', async () => {
    const { url } = await receiver((_, response) =>
      response.writeHead(503, { 'retry-after': '7' }).end(),
    );
    const outcome = await egress().post({ ...post, destinationUrl: url });
    expect(outcome).toEqual({ kind: 'answered', status: 503, retryAfterMs: 7_000 });
  });

  test('fails by the deadline when a receiver does not answer', async () => {
    const { url } = await receiver(() => {});
    const outcome = await egress({ deadlineMs: 150 }).post({ ...post, destinationUrl: url });
    expect(outcome).toEqual({ kind: 'failed', reason: 'deadline' });
  });

  test('with a deadline of its own fails by the earlier of it and that of the egress', async () => {
    const late = { kind: 'failed', reason: 'deadline' };
    const { url } = await receiver(() => {});
    const [own, others] = [egress(), egress({ deadlineMs: 150 })];
    const hanging = { ...post, destinationUrl: url };
    expect(await own.post({ ...hanging, ownDeadlineMs: 150 })).toEqual(late);
    expect(await others.post({ ...hanging, ownDeadlineMs: NEVER_MS })).toEqual(late);
  });

  test('reads an answer that arrived before the deadline after the process was stopped past it', async () => {
    const { counts, url } = await receiverInWorker();
    const deadlineMs = 2_000;
    const stop = () => {
      Atomics.wait(counts, ANSWERS, 1, 30_000);
      blockThread(deadlineMs);
    };
    const out = egress();
    const to = { ...post, destinationUrl: url };
    // The next request is sent at once, over the connection that this one leaves.
    await out.post(to);
    const onSent = () => void setImmediate(stop);
    const outcome = await out.post({ ...to, ownDeadlineMs: deadlineMs, onSent });
    expect(outcome).toEqual({ kind: 'answered', status: 204 });
    expect(counts[ANSWERS]).toBe(2);
  });

  test('sends nothing when a connection opens after the process was stopped past the deadline', async () => {
    const { counts, url } = await receiverInWorker();
    const posted = egress({ deadlineMs: 500 }).post({ ...post, destinationUrl: url });
    // The connection opens meanwhile, and Node reads that after the timers.
    setImmediate(blockThread, 550);
    expect(await posted).toEqual({ kind: 'failed', reason: 'deadline' });
    const later = await egress().post({ ...post, destinationUrl: url });
    expect(later).toEqual({ kind: 'answered', status: 204 });
    expect(counts[REQUESTS]).toBe(1);
  });

  test.each([
    ['the deadline passes', 150],
    ['half a second has passed', NEVER_MS],
  ])(
    'returns the status of an answer whose body comes byte by byte when %s',
    async (_, deadlineMs) => {
      const { url } = await receiver((_, response) => {
        response.writeHead(400);
        const drip = setInterval(() => response.write('.'), 20);
        response.on('close', () => clearInterval(drip));
      });
      const outcome = await egress({ deadlineMs }).post({
        ...post,
        destinationUrl: url,
        keptAnswerBytes: () => 1,
      });
      expect(outcome).toEqual({ kind: 'answered', status: 400, bodyStart: '.' });
    },
  );

  test('fails by the deadline, without a request, when no connection becomes free', async () => {
    let requests = 0;
    const { url } = await receiver(() => {
      requests += 1;
    });
    // The only connection waits for the address of its name.
    const resolve = () => new Promise<string[]>(() => {});
    const out = egress({ deadlineMs: 150, connectionsPerDestination: 1, resolve });
    const destinationUrl = url.replace('127.0.0.1', 'localhost');
    const outcomes = await Promise.all([
      out.post({ ...post, destinationUrl }),
      out.post({ ...post, destinationUrl }),
    ]);
    const late = { kind: 'failed', reason: 'deadline' };
    expect(outcomes).toEqual([late, late]);
    expect(requests).toBe(0);
  });

  test('reads 64 KiB of an endless answer and returns its status', async () => {
    let sent = 0;
    const { url } = await receiver((_, response) => {
      response.writeHead(200);
      const pour = () => {
        while (!response.destroyed && response.write(Buffer.alloc(16_384))) sent += 16_384;
      };
      response.on('drain', pour);
      pour();
    });
    const outcome = await egress().post({ ...post, destinationUrl: url });
    expect(outcome).toEqual({ kind: 'answered', status: 200 });
    // The kernel's buffers on both sides take more than the reader reads.
    expect(sent).toBeLessThan(16 * 1_024 * 1_024);
  });

  test('fails when an answer has more than 64 KiB of headers', async () => {
    const { url } = await receiver((_, response) =>
      response.writeHead(200, { a: 'x'.repeat(65_536) }).end(),
    );
    const outcome = await egress().post({ ...post, destinationUrl: url });
    expect(outcome).toEqual({ kind: 'failed', reason: 'answer_too_large' });
  });

  test('fails with the connection’s error when no server listens', async () => {
    const outcome = await egress().post({ ...post, destinationUrl: REFUSING });
    expect(outcome).toEqual({ kind: 'failed', reason: 'econnrefused' });
  });
});

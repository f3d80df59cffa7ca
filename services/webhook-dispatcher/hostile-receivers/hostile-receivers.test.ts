import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { TestCertificateAuthority } from '@creditlane/runtime/test-certificate-authority';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Egress } from '../egress/egress.ts';
import type { Outcome } from '../egress/exchange.ts';
import { HTTP_ANSWERS, TLS_ANSWERS } from './test-answers.ts';
import {
  type Receivers,
  startReceivers,
  usedBytesAfterGarbageCollection,
} from './test-receivers.ts';

/** As multiples of what an ordinary exchange by TLS costs, which is 3 to 4 ms on both sides. */
const MAX_TLS_EXCHANGES = 2;
/** 128 KiB, and what one read of the socket may bring beyond them. */
const MAX_BYTES = (128 + 64) * 1_024;
const MAX_LATENCY_RATIO = 2;
/** Differences of latency below this are the scheduler's. */
const LATENCY_RESOLUTION_MS = 5;
/** Between two posts: of an idle machine, and as a multiple of what a post takes, which is more on a busy one. */
const POST_INTERVAL = { minMs: 6, posts: 4 };
/** Measurements begin within this time: the last one has the rest of the 60 s that a test may take. */
const REPEATED_FOR_MS = 40_000;
/** Far enough apart that other work disturbs not all of ten: with many more, a rare good one would hide that most are bad. */
const REPEAT_PAUSE_MS = 4_000;
const MAX_GROWTH_BYTES = 16 * 1_024 * 1_024;
const AT_ONCE = 16;
/** Fewer, because each has a TLS handshake. */
const AT_ONCE_BY_TLS = 4;
const ANSWERS = { ...HTTP_ANSWERS, ...TLS_ANSWERS };

const authority = Promise.withResolvers<() => void>();
let hostile: Receivers;
let ordinary: Receivers;
let egress: Egress;
let destinations = 0;

beforeAll(async () => {
  const files = new TestCertificateAuthority(authority.resolve).issue();
  setDefaultCACertificates([...getCACertificates(), readFileSync(files.ca, 'utf8')]);
  [hostile, ordinary] = await Promise.all([startReceivers(files), startReceivers(files)]);
  egress = new Egress({
    allowHttp: true,
    allowLoopback: true,
    ports: [443],
    // No answer is expected to end by the deadline. Those of many small parts have taken more than two seconds on a busy machine.
    deadlineMs: 10_000,
    connectionsPerDestination: 64,
    maxIdleConnections: 64,
  });
});

afterAll(async () => {
  await egress.close();
  for (const { close } of [hostile, ordinary]) await close();
  (await authority.promise)();
});

/** Posts to the port of that name; each destination has connections of its own. */
function post({ ports }: Receivers, name: string, destinationId = newDestination()) {
  const protocol = name === 'https:' || name in TLS_ANSWERS ? 'https:' : 'http:';
  const destinationUrl = `${protocol}//localhost:${ports[name]}`;
  return egress.post({ destinationId, destinationUrl, path: '/webhook', headers: {}, body: '{}' });
}

function newDestination(): string {
  destinations += 1;
  return String(destinations);
}

function median(numbers: number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}

/** The median CPU of five exchanges, each on a new connection, with what they read and how they ended. */
async function measureExchange(receivers: Receivers, name: string) {
  const sockets: Socket[] = [];
  const collect = (message: unknown) => void sockets.push((message as { socket: Socket }).socket);
  subscribe('net.client.socket', collect);
  const cpusMs: number[] = [];
  const outcomes: (Outcome | undefined)[] = [];
  for (let n = 0; n < 5; n += 1) {
    const startCpu = process.cpuUsage();
    outcomes.push(await post(receivers, name));
    // What the receiver goes on to send costs CPU too.
    await delay(5);
    const { user, system } = process.cpuUsage(startCpu);
    cpusMs.push((user + system) / 1_000);
  }
  unsubscribe('net.client.socket', collect);
  const bytes = Math.max(...sockets.map(({ bytesRead }) => bytesRead));
  return { cpuMs: median(cpusMs), bytes, outcomes };
}

/** An interval that this machine can keep at present: with a shorter one, each post is later than the one before. */
async function chooseIntervalMs(): Promise<number> {
  const POSTS = 10;
  const startMs = performance.now();
  for (let n = 0; n < POSTS; n += 1) await post(ordinary, 'http:', 'ordinary');
  const postMs = (performance.now() - startMs) / POSTS;
  return Math.max(POST_INTERVAL.minMs, POST_INTERVAL.posts * postMs);
}

/**
 * The median latency of posts to an ordinary receiver. Each counts from the time at which it was to begin,
 * so that a blocked event loop shows.
 */
async function measureLatencyMs(posts: number, intervalMs: number): Promise<number> {
  const latenciesMs: number[] = [];
  const startMs = performance.now();
  for (let n = 0; n < posts; n += 1) {
    const plannedMs = startMs + n * intervalMs;
    await delay(Math.max(0, plannedMs - performance.now()));
    expect(await post(ordinary, 'http:', 'ordinary')).toEqual({ kind: 'answered', status: 200 });
    latenciesMs.push(performance.now() - plannedMs);
  }
  return median(latenciesMs);
}

/** Other work of the machine can disturb a measurement for seconds, so it is repeated before it counts. */
async function eventually(check: () => Promise<void>): Promise<void> {
  const startMs = performance.now();
  while (performance.now() - startMs < REPEATED_FOR_MS) {
    try {
      return await check();
    } catch {
      await delay(REPEAT_PAUSE_MS);
    }
  }
  await check();
}

describe.each(Object.entries(ANSWERS))('a receiver that sends %s', (name, answer) => {
  const { outcome, maxTlsExchanges = MAX_TLS_EXCHANGES } = answer;

  test(`costs at most ${maxTlsExchanges} ordinary exchanges by TLS more, and is read to at most 128 KiB`, () =>
    eventually(async () => {
      const byTls = await measureExchange(ordinary, 'https:');
      const usual = name in TLS_ANSWERS ? byTls : await measureExchange(ordinary, 'http:');
      const measured = await measureExchange(hostile, name);
      expect(measured.outcomes).toEqual(Array.from({ length: 5 }, () => outcome));
      expect(measured.bytes).toBeLessThanOrEqual(MAX_BYTES);
      expect((measured.cpuMs - usual.cpuMs) / byTls.cpuMs).toBeLessThanOrEqual(maxTlsExchanges);
    }));

  test('to many requests at once does not double the latency of another destination', () =>
    eventually(async () => {
      const intervalMs = await chooseIntervalMs();
      const usualMs = Math.max(await measureLatencyMs(20, intervalMs), LATENCY_RESOLUTION_MS);
      const length = name in TLS_ANSWERS ? AT_ONCE_BY_TLS : AT_ONCE;
      const exchanges = Array.from({ length }, () => post(hostile, name));
      const besideMs = await measureLatencyMs(50, intervalMs);
      await Promise.all(exchanges);
      expect(besideMs).toBeLessThanOrEqual(MAX_LATENCY_RATIO * usualMs);
    }));
});

test('the memory that hostile answers take returns', async () => {
  const beforeBytes = await usedBytesAfterGarbageCollection();
  for (const name of Object.keys(ANSWERS)) {
    await Promise.all(Array.from({ length: AT_ONCE }, () => post(hostile, name)));
  }
  expect((await usedBytesAfterGarbageCollection()) - beforeBytes).toBeLessThan(MAX_GROWTH_BYTES);
});

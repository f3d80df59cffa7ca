import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { DeliveryState, Side } from '@creditlane/proto/conversations/v1/comment';
import { newId } from '@creditlane/runtime/ids';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestGateway } from '../test-gateway.ts';

const gateway = await startTestGateway({ accessCacheMs: 4_000 });
afterAll(gateway.close);
const conversation = gateway.decisionPath.replace(/decision$/, 'conversation');

const PAY_STUB = 'Please send a pay stub that is not older than 30 days. ';
beforeEach(() => {
  gateway.services.comments.splice(
    0,
    Infinity,
    ...Array.from({ length: 20 }, () => ({
      id: newId(),
      side: Side.CREDITOR,
      author: { userName: 'Ines Okafor' },
      comment: PAY_STUB,
      createdAt: timestampFromDate(new Date('2026-03-02T15:04:05Z')),
      integrationId: gateway.ids.integration,
      delivery: { state: DeliveryState.QUEUED },
    })),
  );
});

const read = (coding: string, method = 'GET') =>
  gateway.send(method, conversation, { headers: { 'accept-encoding': coding } });
const lengthOf = ({ headers }: { headers: Headers }) => Number(headers.get('content-length'));

describe('an answer that is larger than a packet', () => {
  test.each([
    ['br', 'br'],
    ['gzip', 'gzip'],
    ['gzip;q=0.5, br;q=0.1', 'gzip'],
    ['deflate, gzip, br', 'gzip'],
    ['*', 'br'],
  ])('is compressed for a client that accepts %s', async (accepted, coding) => {
    const { headers, text, json } = await read(accepted);
    expect(headers.get('content-encoding')).toBe(coding);
    expect(headers.get('vary')).toBe('Accept-Encoding');
    expect(lengthOf({ headers })).toBeLessThan(text.length / 4);
    expect(json.data).toHaveLength(20);
  });

  test.each(['identity', '', 'deflate', 'gzip;q=0', '*;q=0', `gzip${', x'.repeat(170)}`])(
    'is sent as it is to a client that accepts "%.20s"',
    async (accepted) => {
      const { headers, text } = await read(accepted);
      expect(headers.has('content-encoding')).toBe(false);
      expect(headers.get('vary')).toBe('Accept-Encoding');
      expect(lengthOf({ headers })).toBe(Buffer.byteLength(text));
    },
  );

  test('has no length for HEAD, and the coding that GET has', async () => {
    const path = `/v1/applications/${gateway.ids.application}`;
    const application = gateway.services.applications.get(gateway.ids.application);
    if (application !== undefined) application.referenceNumber = 'D'.repeat(2_000);
    const headers = { 'accept-encoding': 'gzip' };
    const answer = await gateway.send('HEAD', path, { headers });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-encoding')).toBe('gzip');
    expect(answer.headers.has('content-length')).toBe(false);
    const plain = await gateway.send('HEAD', path, { headers: { 'accept-encoding': 'identity' } });
    expect(plain.headers.has('content-encoding')).toBe(false);
    expect(lengthOf(plain)).toBeGreaterThan(2_000);
  });

  test('is compressed when it is an error, also as problem details', async () => {
    const body = {
      primaryApplicant: { addressHistory: Array(20).fill({ city: 1, direction: 1 }) },
    };
    for (const type of ['application/json', 'application/problem+json']) {
      const headers = { 'accept-encoding': 'gzip', accept: type };
      const answer = await gateway.send('POST', '/v1/applications', { body, headers });
      expect(answer.status).toBe(400);
      expect(answer.headers.get('content-type')).toMatch(type);
      expect(answer.headers.get('content-encoding')).toBe('gzip');
      expect(answer.json.errors).toHaveLength(20);
    }
  });

  test('is sent as it is when it answers a POST', async () => {
    const applicant = { firstName: 'Maya', lastName: 'Roy', dateOfBirth: '1990-04-01' };
    const addressHistory = Array(20).fill({ streetName: 'Harbour Road '.repeat(10) });
    const answer = await gateway.send('POST', '/v1/applications', {
      body: {
        retailerId: gateway.ids.retailer,
        type: 'APPROVAL',
        primaryApplicant: { ...applicant, addressHistory },
      },
      headers: { 'accept-encoding': 'gzip' },
    });
    expect([answer.status, answer.headers.get('content-encoding')]).toEqual([201, null]);
    expect(answer.text.length).toBeGreaterThan(2_000);
  });

  test('is sent as it is while two others are being compressed', async () => {
    const releaseThreads = await occupyThreadPool();
    let uncompressed = 0;
    const answers = Array.from({ length: 20 }, async () => {
      const answer = await read('gzip');
      if (!answer.headers.has('content-encoding')) uncompressed += 1;
      return answer;
    });
    try {
      await expect.poll(() => uncompressed, { timeout: 30_000 }).toBe(18);
    } finally {
      await releaseThreads();
    }
    const texts = (await Promise.all(answers)).map(({ text }) => text);
    expect(new Set(texts).size).toBe(1);
    expect(uncompressed).toBe(18);
  });
});

/** The pool has four threads unless UV_THREADPOOL_SIZE says otherwise. What finds none free waits in order. */
const MORE_THAN_THREADS = 64;

/** Has each thread of libuv's pool, which compresses, wait for a writer of a named pipe. Resolves to what lets them go on. */
async function occupyThreadPool(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'creditlane-pipe-'));
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const readers = Array.from({ length: MORE_THAN_THREADS }, () => open(pipe, 'r'));
  return async () => {
    const writer = openSync(pipe, 'r+');
    for (const reader of await Promise.all(readers)) await reader.close();
    closeSync(writer);
    await rm(folder, { recursive: true });
  };
}

test('a smaller answer is sent as it is, whatever the client accepts', async () => {
  const headers = { 'accept-encoding': 'br, gzip' };
  const answer = await gateway.send('GET', gateway.decisionPath, { headers });
  expect(answer.status).toBe(200);
  expect(answer.headers.has('content-encoding')).toBe(false);
  expect(answer.headers.has('vary')).toBe(false);
});

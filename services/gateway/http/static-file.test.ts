import { brotliDecompressSync } from 'node:zlib';
import type { Context } from 'koa';
import { expect, test } from 'vitest';
import { compress } from './content-coding.ts';
import { StaticFile } from './static-file.ts';

/** What StaticFile needs of the context of a request whose client takes brotli. */
function contextOf(headers = new Map<string, string>()): Context {
  return {
    fresh: false,
    get: () => 'br',
    acceptsEncodings: () => 'br',
    set: (name: string, value: string) => void headers.set(name, value),
  } as unknown as Context;
}

test('a file whose compression failed once is compressed for the next request', async () => {
  let calls = 0;
  const file = new StaticFile('text/css', 'p { color: red; }', (...args) => {
    calls += 1;
    return calls === 1 ? Promise.reject(new Error('no memory')) : compress(...args);
  });
  const ofFailure = new Map<string, string>();
  await expect(file.send(contextOf(ofFailure), 'immutable')).rejects.toThrow('no memory');
  // The answer to the failure is neither compressed nor kept by caches.
  expect(ofFailure.size).toBe(0);
  const ctx = contextOf();
  await file.send(ctx, 'no-cache');
  expect(brotliDecompressSync(ctx.body as Buffer).toString()).toBe('p { color: red; }');
});

test('all requests for a file are answered with one content, which is compressed once', async () => {
  let calls = 0;
  const file = new StaticFile('text/css', 'p { color: red; }', (...args) => {
    calls += 1;
    return compress(...args);
  });
  const contexts = [contextOf(), contextOf(), contextOf()];
  for (const ctx of contexts) await file.send(ctx, 'no-cache');
  const [{ body } = contextOf()] = contexts;
  expect(body).toBeInstanceOf(Buffer);
  for (const ctx of contexts) expect(ctx.body).toBe(body);
  expect(calls).toBe(1);
});

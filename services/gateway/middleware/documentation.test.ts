import { afterAll, expect, test } from 'vitest';
import { startTestGateway } from '../test-gateway.ts';

const gateway = await startTestGateway();
afterAll(gateway.close);

const get = (path: string, headers: Record<string, string> = {}) =>
  gateway.send('GET', path, { key: '', headers });

test('the OpenAPI document is served without a key, whole and in one piece', async () => {
  const { status, headers, json, text } = await get('/v1/openapi.json');
  expect(status).toBe(200);
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(json.openapi).toBe('3.1.0');
  const { get: read, post: record } =
    json.paths['/applications/{applicationId}/creditors/{creditorId}/decision'];
  expect([read.operationId, record.operationId]).toEqual(['getDecision', 'recordDecision']);
  expect(Object.keys(record.responses).sort()).toEqual(
    ['200', '400', '401', '409', '413', '415', '422', '429', '500', '503'].sort(),
  );
  for (const [, pointer = ''] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    const found = pointer.split('/').reduce((at, step) => at?.[step], json);
    expect(found, pointer).toBeDefined();
  }
});

test('the documentation page and all it loads come from this server, under a strict policy', async () => {
  const page = await get('/docs');
  expect(page.status).toBe(200);
  expect(page.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; script-src 'self'/,
  );
  expect(page.headers.get('content-security-policy')?.match(/[^;]*unsafe[^;]*/g)).toEqual([
    " style-src 'self' 'unsafe-inline'",
  ]);
  const loaded = [...page.text.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, url]) => url ?? '');
  expect(loaded.map((url) => url.replace(/\?.*/, ''))).toContain('docs/scalar.js');
  for (const relative of loaded) {
    if (relative === 'data:,') continue;
    expect(relative).toMatch(/^(docs|v1)\//);
    const url = `/${relative}`;
    const file = await get(url);
    expect(file.status).toBe(200);
    if (!url.startsWith('/docs/')) continue;
    expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    // The browser asks each time for a file of another version than its URL names.
    for (const other of [url.replace(/\?.*/, ''), `${url}0`]) {
      expect((await get(other)).headers.get('cache-control')).toBe('no-cache');
    }
  }
});

test('the root leads to the documentation page', async () => {
  const answer = await get('/');
  expect([answer.status, answer.headers.get('location')]).toEqual([302, '/docs']);
});

test('the published document has code samples of every operation, and the page no answer in two types', async () => {
  const { json: published } = await get('/v1/openapi.json');
  const { json: shown } = await get('/docs/openapi.json');
  expect(Object.keys(shown.paths)).toEqual(Object.keys(published.paths));
  for (const [path, item] of Object.entries<Record<string, never>>(published.paths)) {
    for (const [method, operation] of Object.entries<Described>(item)) {
      if (method === 'parameters') continue;
      const labels = operation['x-codeSamples'].map(({ label }) => label);
      expect(labels.slice(0, 3), operation.operationId).toEqual(['curl', 'TypeScript', 'Python']);
      expect(shown.paths[path][method]['x-codeSamples']).toEqual(operation['x-codeSamples']);
      expect(shown.paths[path][method].tags).not.toContain('extension');
    }
  }
  expect(JSON.stringify(published)).toContain('application/problem+json');
  expect(JSON.stringify(shown)).not.toContain('application/problem+json":');
  expect(shown.webhooks).toEqual(published.webhooks);
});
interface Described {
  operationId: string;
  'x-codeSamples': { label: string }[];
}

test.each(['/v1/openapi.json', '/docs/openapi.json'])(
  '%s does not say which services an operation needs',
  async (path) => {
    const { status, text } = await get(path);
    expect(status).toBe(200);
    expect(text).toContain('recordDecision');
    expect(text).not.toContain('x-needs');
  },
);

test('the page starts its library without a stored key and without its vendor’s services', async () => {
  const { text } = await get('/docs/start.js');
  for (const line of ['persistAuth: false', 'telemetry: false', 'withDefaultFonts: false']) {
    expect(text).toContain(line);
  }
  expect(text).toMatch(/url: 'docs\/openapi\.json\?v=[\w-]{43}'/);
  expect(text).not.toContain('http');
});

test('a file that the browser has cached is answered with 304', async () => {
  for (const path of ['/v1/openapi.json', '/docs', '/docs/openapi.json']) {
    const etag = (await get(path)).headers.get('etag') ?? '';
    expect(etag).toMatch(/^W\/"[\w-]{43}"$/);
    for (const cached of [etag, etag.slice(2), `"other", ${etag}`, '*']) {
      // Without it, fetch adds `no-cache`, which asks for the whole file.
      const headers = { 'if-none-match': cached, 'cache-control': 'max-age=0' };
      const again = await get(path, headers);
      expect(again.status).toBe(304);
      expect(again.text).toBe('');
      expect(again.headers.get('etag')).toBe(etag);
    }
    expect((await get(path, { 'if-none-match': '"other"' })).status).toBe(200);
  }
});

test.each(['br', 'gzip', 'identity'])(
  'a client that accepts the coding %s gets the same content',
  async (coding) => {
    const path = '/docs/scalar.js';
    const { headers, text } = await get(path, { 'accept-encoding': coding });
    expect(headers.get('content-encoding')).toBe(coding === 'identity' ? null : coding);
    expect(headers.get('vary')).toBe('Accept-Encoding');
    const length = Number(headers.get('content-length'));
    if (coding === 'identity') expect(length).toBe(Buffer.byteLength(text));
    else expect(length).toBeLessThan(Buffer.byteLength(text) / 3);
    expect(text).toContain('createApiReference');
  },
);

test.each(['/docs/package.json', '/docs/..%2Fpackage.json', '/docs/__proto__'])(
  '%s is 404',
  async (path) => {
    expect((await get(path)).status).toBe(404);
  },
);

test('a method other than GET on a documentation page is refused', async () => {
  const answer = await gateway.send('POST', '/docs', { body: {} });
  expect(answer.status).toBe(405);
  expect(answer.headers.get('allow')).toBe('GET, HEAD');
});

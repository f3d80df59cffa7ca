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
  expect(page.headers.get('content-security-policy')).not.toContain('unsafe');
  const loaded = [...page.text.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, url]) => url ?? '');
  expect(loaded).toContain('/docs/swagger-ui-bundle.js');
  for (const url of loaded) {
    expect(url).toMatch(/^\/(docs|v1)\//);
    expect((await get(url)).status).toBe(200);
  }
});

test('a file that the browser has cached is answered with 304', async () => {
  const etag = (await get('/docs/swagger-ui.css')).headers.get('etag') ?? '';
  const again = await get('/docs/swagger-ui.css', { 'if-none-match': etag });
  expect(again.status).toBe(304);
  expect(again.text).toBe('');
});

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

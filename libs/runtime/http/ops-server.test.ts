import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { Health } from '../health.ts';
import { Metrics } from '../telemetry/metrics.ts';
import { type OpsServer, startOpsServer } from './ops-server.ts';

async function startServer(health = new Health(), metrics = new Metrics()): Promise<OpsServer> {
  const server = await startOpsServer({ port: 0, host: '127.0.0.1', health, metrics });
  onTestFinished(() => server.close());
  return server;
}

test('while the process is healthy: /livez and /readyz 200', async () => {
  const health = new Health();
  health.add('database', () => true);
  const { url } = await startServer(health);
  const live = await fetch(`${url}/livez`);
  expect([live.status, await live.json()]).toEqual([200, { live: true }]);
  const ready = await fetch(`${url}/readyz?verbose`);
  expect(ready.status).toBe(200);
  expect(await ready.json()).toEqual({ ready: true, degraded: false, checks: { database: 'ok' } });
});

test('while the process is not ready: /readyz 503 with the reasons, /livez 200', async () => {
  const health = new Health();
  health.add('database', () => 'no connection');
  const { url } = await startServer(health);
  const ready = await fetch(`${url}/readyz`);
  expect(ready.status).toBe(503);
  expect(await ready.json()).toEqual({
    ready: false,
    degraded: false,
    checks: { database: 'no connection' },
  });
  expect((await fetch(`${url}/livez`)).status).toBe(200);
});

test('/metrics is in the Prometheus text format', async () => {
  const metrics = new Metrics();
  metrics.counter('writes_total', 'Writes.').inc();
  const { url } = await startServer(new Health(), metrics);
  const answer = await fetch(`${url}/metrics`);
  expect(answer.headers.get('content-type')).toBe(metrics.contentType);
  expect(await answer.text()).toContain('creditlane_writes_total 1');
});

test('sixty requests for /metrics that arrive during a rendering share the next one', async () => {
  const arrived = Promise.withResolvers<void>();
  let requests = 0;
  const countRequest = () => {
    requests += 1;
    if (requests === 61) arrived.resolve();
  };
  subscribe('http.server.request.start', countRequest);
  onTestFinished(() => void unsubscribe('http.server.request.start', countRequest));
  const metrics = new Metrics();
  let renderings = 0;
  metrics.gauge('renderings', 'Renderings.', [], async () => {
    renderings += 1;
    await arrived.promise;
  });
  const { url } = await startServer(new Health(), metrics);
  const read = async () => (await fetch(`${url}/metrics`)).text();
  await Promise.all(Array.from({ length: 61 }, read));
  expect(renderings).toBe(2);
});

test('each answer of /metrics has what was counted before its request', async () => {
  const metrics = new Metrics();
  const writes = metrics.counter('writes_total', 'Writes.');
  const { url } = await startServer(new Health(), metrics);
  for (const count of [1, 2, 3]) {
    writes.inc();
    const answer = await fetch(`${url}/metrics`);
    expect(await answer.text()).toContain(`creditlane_writes_total ${count}`);
  }
});

test('a request whose head does not arrive in time is cut', async () => {
  const timeouts = { headMs: 100, requestMs: 200, unreadMs: 100 };
  const health = new Health();
  const options = { port: 0, host: '127.0.0.1', health, metrics: new Metrics(), timeouts };
  const server = await startOpsServer(options);
  onTestFinished(() => server.close());
  const client = connect(Number(new URL(server.url).port), '127.0.0.1');
  client.write('GET /livez HT');
  const [answer] = await once(client, 'data');
  expect(String(answer)).toMatch(/^HTTP\/1\.1 408 /);
  await once(client, 'close');
});

test('another path: 404; another method: 405', async () => {
  const { url } = await startServer();
  expect((await fetch(`${url}/`)).status).toBe(404);
  expect((await fetch(`${url}/readyz`, { method: 'POST' })).status).toBe(405);
  const head = await fetch(`${url}/readyz`, { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);
});

test('a port in use: EADDRINUSE', async () => {
  const { url } = await startServer();
  const port = Number(new URL(url).port);
  const second = startOpsServer({
    port,
    host: '127.0.0.1',
    health: new Health(),
    metrics: new Metrics(),
  });
  await expect(second).rejects.toMatchObject({ code: 'EADDRINUSE', port });
});

test('close does not wait for idle connections', async () => {
  const server = await startOpsServer({
    port: 0,
    host: '127.0.0.1',
    health: new Health(),
    metrics: new Metrics(),
  });
  await (await fetch(`${server.url}/livez`)).text();
  await server.close();
  await expect(fetch(`${server.url}/livez`)).rejects.toThrow();
});

test('close does not wait for a request whose headers are incomplete', async () => {
  const health = new Health();
  const server = await startOpsServer({
    port: 0,
    host: '127.0.0.1',
    health,
    metrics: new Metrics(),
  });
  const client = connect(Number(new URL(server.url).port), '127.0.0.1');
  await once(client, 'connect');
  client.on('error', () => {}).write('GET /livez HTTP/1.1\r\n');
  // An answer on a later connection shows that the server has accepted the first one.
  await (await fetch(`${server.url}/livez`)).text();
  const disconnected = once(client, 'close');
  await server.close();
  await disconnected;
});

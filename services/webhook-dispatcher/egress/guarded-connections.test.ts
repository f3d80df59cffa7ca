import { describe, expect, test } from 'vitest';
import type { EgressOptions } from './egress.ts';
import { egress, post, receiver } from './test-egress.ts';

describe('the guard on connections', () => {
  const strict = { allowLoopback: false, ports: [0] };

  async function postTo(hostname: string, options: Partial<EgressOptions>) {
    let connections = 0;
    const { server, url } = await receiver((_, response) => response.end());
    server.on('connection', () => {
      connections += 1;
    });
    const { port } = new URL(url);
    const out = egress({ ...strict, ports: [Number(port)], ...options });
    const outcome = await out.post({ ...post, destinationUrl: `http://${hostname}:${port}` });
    return { outcome, connections };
  }

  test.each([
    ['127.0.0.1'],
    ['10.0.0.1', '8.8.8.8'],
    ['8.8.8.8', '127.0.0.1'],
    ['8.8.8.8', '::ffff:127.0.0.1'],
    ['2606:4700::1', '64:ff9b::7f00:1'],
  ])('opens no connection to a name with the address %s', async (...addresses) => {
    const { outcome, connections } = await postTo('hooks.example.com', {
      resolve: async () => addresses,
    });
    expect(outcome).toEqual({ kind: 'failed', reason: 'address_not_public' });
    expect(connections).toBe(0);
  });

  test('opens no connection to an IP literal that is not public', async () => {
    const { outcome, connections } = await postTo('127.0.0.1', {});
    expect(outcome).toEqual({ kind: 'failed', reason: 'address_not_public' });
    expect(connections).toBe(0);
  });

  test.each([
    ['localhost..', 'host_name_invalid'],
    ['localhost.', 'host_name_invalid'],
    ['127.0.0.1.', 'host_not_canonical'],
    ['127.1', 'host_not_canonical'],
  ])('opens no connection to %s, another spelling of a permitted host', async (host, reason) => {
    const { outcome, connections } = await postTo(host, { allowLoopback: true });
    expect(outcome).toEqual({ kind: 'failed', reason });
    expect(connections).toBe(0);
  });

  test('checks the addresses of a name for each connection, so that DNS rebinding has no effect', async () => {
    const answers = [['8.8.8.8', '10.0.0.1'], ['127.0.0.1']];
    const resolve = async () => answers.shift() ?? [];
    const first = await postTo('rebinding.example.com', { resolve });
    const second = await postTo('rebinding.example.com', { resolve });
    expect([first.outcome, second.outcome]).toEqual([
      { kind: 'failed', reason: 'address_not_public' },
      { kind: 'failed', reason: 'address_not_public' },
    ]);
  });

  test.each([
    ['has no address', async () => []],
    ['cannot be looked up', async () => Promise.reject(new Error('SERVFAIL'))],
  ])('fails with name_unknown when a name %s', async (_, resolve) => {
    const { outcome } = await postTo('nowhere.example.com', { resolve });
    expect(outcome).toEqual({ kind: 'failed', reason: 'name_unknown' });
  });
});

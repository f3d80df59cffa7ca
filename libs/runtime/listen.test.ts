import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { expect, onTestFinished, test } from 'vitest';
import { listen } from './listen.ts';

const hasIPv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
);

const HOSTS = [
  { host: '127.0.0.1', name: '127.0.0.1' },
  { host: '0.0.0.0', name: '127.0.0.1' },
  { host: '::1', name: '[::1]' },
  { host: '::', name: '127.0.0.1' },
];

test.each(HOSTS.filter(({ host }) => hasIPv6 || !host.includes(':')))(
  'a server on $host is named $name in URLs',
  async ({ host, name }) => {
    const server = createServer();
    onTestFinished(() => void server.close());
    const { port, authority } = await listen(server, { host, port: 0 });
    expect(authority).toBe(`${name}:${port}`);
    await expect(listen(createServer(), { host, port })).rejects.toThrow('EADDRINUSE');
  },
);

import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { guardedDial } from './guarded-dial.ts';

test.each(['http:', 'https:'])(
  'a connection by %s whose peer address is not public is closed before a byte is sent',
  async (protocol) => {
    let bytes = 0;
    const server = createServer((socket) => {
      socket.on('data', (chunk) => {
        bytes += chunk.length;
      });
      socket.on('error', () => {});
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    // Node calls no lookup for an IP literal, so only the check of the peer address remains.
    const dial = guardedDial({ allowLoopback: false, resolve: async () => [] });
    let opened = 0;
    const error = await new Promise((resolve) => {
      dial(new URL(`${protocol}//127.0.0.1:${port}`), {
        onOpen: () => {
          opened += 1;
        },
        onArrival: () => {},
        onData: () => {},
        onClose: resolve,
      });
    });
    expect(error).toMatchObject({ code: 'address_not_public' });
    // It resolves once the connection has ended, and so every byte has arrived.
    await new Promise((resolve) => server.close(resolve));
    expect({ opened, bytes }).toEqual({ opened: 0, bytes: 0 });
  },
);

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { ANSWERS, useHostileEgress } from './test-hostile-egress.ts';

/** 128 KiB, and what one read of the socket may bring beyond them. */
const MAX_BYTES = (128 + 64) * 1_024;

const egress = useHostileEgress();

/** The sockets that are opened while `work` runs. */
async function collectSockets(work: () => Promise<void>): Promise<Socket[]> {
  const sockets: Socket[] = [];
  const collect = (message: unknown) => void sockets.push((message as { socket: Socket }).socket);
  subscribe('net.client.socket', collect);
  await work();
  unsubscribe('net.client.socket', collect);
  return sockets;
}

test.each(Object.entries(ANSWERS))(
  'a receiver that sends %s is read to at most 128 KiB',
  async (name, { outcome }) => {
    const sockets = await collectSockets(async () => {
      expect([outcome].flat()).toContainEqual(await egress.postToHostile(name));
    });
    expect(sockets).toHaveLength(1);
    for (const { bytesRead } of sockets) expect(bytesRead).toBeLessThanOrEqual(MAX_BYTES);
  },
);

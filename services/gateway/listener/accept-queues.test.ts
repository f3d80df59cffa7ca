// How connections that wait are accepted while requests keep the event loop busy.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { connectFromThread } from '../test-socket.ts';
import { startListener } from './listener.ts';

const WAITING = 100;
const ADDRESS = { host: '127.0.0.1', port: 0, graceMs: 5_000 };

test.runIf(process.platform === 'linux')(
  'connections that wait are accepted several in one turn of the event loop',
  async () => {
    let accepted = 0;
    const listener = await startListener(ADDRESS, (_, res) => {
      accepted += 1;
      res.end();
    });
    onTestFinished(() => (listener.closing ? undefined : listener.close()));
    const { connected, ends } = connectFromThread(listener.port, WAITING);
    // The event loop stands still, so that the system queues the connections.
    Atomics.wait(connected, 0, 0);
    let turns = 0;
    for (; accepted < WAITING; turns += 1) await nextTurn();
    // libuv accepts one in each turn from each listening socket.
    expect(turns).toBeLessThan(WAITING / 2);
    await listener.close();
    const [answers] = await ends;
    expect(answers).toEqual(Array(WAITING).fill(expect.stringContaining('HTTP/1.1 200 OK')));
  },
);

test('a port that another listener has is refused, although several sockets share it', async () => {
  const listener = await startListener(ADDRESS, () => undefined);
  onTestFinished(() => listener.close());
  const second = startListener({ ...ADDRESS, port: listener.port }, () => undefined);
  await expect(second).rejects.toMatchObject({ code: 'EADDRINUSE' });
});

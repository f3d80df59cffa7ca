import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { egress, post, rawReceiver } from './test-egress.ts';

const ANSWER = 'HTTP/1.1 204 No Content\r\n\r\n';

/** An egress that has sent its first request; the receiver does this with the next ones. */
async function afterFirst(onRequest: (socket: Socket, isFirstOfConnection: boolean) => void) {
  const requests: Socket[] = [];
  const receiver = await rawReceiver((socket) => {
    const isFirstOfConnection = !requests.includes(socket);
    requests.push(socket);
    if (requests.length === 1) socket.write(ANSWER);
    else onRequest(socket, isFirstOfConnection);
  });
  const out = egress({ connectionsPerDestination: 1 });
  let sent = 0;
  const send = (maySend?: () => boolean) =>
    out.post({
      ...post,
      destinationUrl: receiver.url,
      maySend,
      onSent: () => {
        sent += 1;
      },
    });
  expect(await send()).toMatchObject({ status: 204 });
  return {
    send,
    /** The number of the connection of each request. */
    connections: () => requests.map((socket) => receiver.sockets.indexOf(socket)),
    /** How often a request counted as sent. */
    countSent: () => sent,
  };
}

describe('a request over a kept connection', () => {
  test.each([
    ['is reset', (socket: Socket) => void socket.resetAndDestroy()],
    ['ends', (socket: Socket) => void socket.end()],
  ])(
    'that %s before any byte of an answer is sent again at once over a new one, and counts once',
    async (_, close) => {
      const { send, connections, countSent } = await afterFirst((socket, isFirst) => {
        if (isFirst) socket.write(ANSWER);
        else close(socket);
      });
      // One of them waits for the only connection.
      expect(await Promise.all([send(), send()])).toMatchObject([{ status: 204 }, { status: 204 }]);
      expect(connections()).toEqual([0, 0, 1, 1, 2]);
      expect(countSent()).toBe(3);
    },
  );

  test('is sent over one new connection only: when that closes, too, the attempt fails', async () => {
    const { send, connections } = await afterFirst((socket) => void socket.end());
    expect(await send()).toEqual({ kind: 'failed', reason: 'connection_closed' });
    expect(connections()).toEqual([0, 0, 1]);
  });

  test('that closes within the head of an answer fails: it is not sent again', async () => {
    const { send, connections } = await afterFirst((socket) => void socket.end('HTTP/1.1 2'));
    expect(await send()).toEqual({ kind: 'failed', reason: 'connection_closed' });
    expect(connections()).toEqual([0, 0]);
  });

  test('is not sent again once it must not be sent any more', async () => {
    const { send, connections } = await afterFirst((socket) => void socket.end());
    let asked = 0;
    const maySend = () => {
      asked += 1;
      return asked === 1;
    };
    expect(await send(maySend)).toBeUndefined();
    expect(connections()).toEqual([0, 0]);
  });
});

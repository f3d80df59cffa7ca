/** For the tests: a program that prints what requests to a listener leave in V8's old generation. */
import { once } from 'node:events';
import { printOldBytes } from '@creditlane/runtime/test-old-generation';
import { openTestSocket, requestText } from '../test-socket.ts';
import { startListener } from './listener.ts';

const timeouts = { headMs: 10_000, requestMs: 10_000, unreadMs: 10_000 };
const listener = await startListener(
  { host: '127.0.0.1', port: 0, graceMs: 0, timeouts },
  (req, res) => req.resume().on('end', () => res.end('read')),
);
const { socket } = await openTestSocket(listener.port);
await printOldBytes(async () => {
  const answered = once(socket, 'data');
  socket.write(requestText('GET /', ['Host: gateway']));
  await answered;
});
socket.destroy();
await listener.close();

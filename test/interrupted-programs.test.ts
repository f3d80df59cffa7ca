import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

/** The port of a server that accepts connections and never answers, and its first connection. */
async function startSilentServer() {
  const connected = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => undefined);
    connected.resolve();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, connected: connected.promise };
}

test.each([
  ['libs/events/make-topics.ts', (port: number) => ({ KAFKA_BROKERS: `127.0.0.1:${port}` })],
  [
    'libs/events/raise-partitions.ts',
    (port: number) => ({
      KAFKA_BROKERS: `127.0.0.1:${port}`,
      RAISE_TOPIC: 'creditlane.decisions.v1',
      RAISE_TO: '24',
    }),
  ],
  [
    'libs/postgres/make-databases.ts',
    (port: number) => ({
      ADMIN_DATABASE_URL: `postgres://admin:secret@127.0.0.1:${port}/postgres`,
      DATABASES: 'creditlane_decisions:secret',
    }),
  ],
])(
  '%s that SIGTERM ends before its work is done exits with 143, so that its Job does not count as complete',
  async (program, envOf) => {
    const { port, connected } = await startSilentServer();
    const child = spawn(process.execPath, [join(ROOT, program)], {
      env: envOf(port),
      stdio: 'ignore',
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const ended = once(child, 'exit');
    await connected;
    child.kill('SIGTERM');
    expect(await ended).toEqual([143, null]);
  },
);

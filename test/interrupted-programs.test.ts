import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { compiledModules } from '@creditlane/runtime/compiled-modules';
import { type TestContext, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

/** The port of a server that accepts connections and never answers, and its first connection. */
async function startSilentServer({ onTestFinished }: TestContext) {
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

// At once, because each process waits two seconds for its start to end.
test.concurrent.for<[string, (port: number) => NodeJS.ProcessEnv]>([
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
  async ([program, envOf], context) => {
    const { port, connected } = await startSilentServer(context);
    const child = spawn(process.execPath, [join(ROOT, program)], {
      env: { ...compiledModules(), ...envOf(port) },
      stdio: 'ignore',
    });
    context.onTestFinished(() => void child.kill('SIGKILL'));
    const ended = once(child, 'exit');
    await connected;
    child.kill('SIGTERM');
    context.expect(await ended).toEqual([143, null]);
  },
);

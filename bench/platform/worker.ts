/** Child processes whose functions the parent calls by name, over Node's IPC channel. */
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';

const BENCH_DIR = join(import.meta.dirname, '..');

// biome-ignore lint/suspicious/noExplicitAny: the functions of a worker take different arguments.
type Functions = Record<string, (input: any) => unknown>;

interface CallMessage {
  id: number;
  name: string;
  input: unknown;
}

type ReplyMessage = { id: number; value: unknown } | { id: number; error: string };

/** A running worker. Arguments and results must be JSON. */
export interface Worker<F extends Functions> {
  pid: number;
  call<K extends keyof F & string>(
    name: K,
    ...input: Parameters<F[K]>
  ): Promise<Awaited<ReturnType<F[K]>>>;
  /** Closes the channel, whereupon the worker closes what it opened and ends; resolves when it ended. */
  close(): Promise<void>;
}

/**
 * Starts the worker in `file`, a path below bench/. A call rejects with the error that the function
 * threw, or when the worker has ended or ends before it replied.
 */
export function startWorker<F extends Functions>(
  file: string,
  nodeFlags: string[] = [],
): Worker<F> {
  const child = fork(join(BENCH_DIR, file), {
    execArgv: ['--disable-warning=ExperimentalWarning', ...nodeFlags],
  });
  const pending = new Map<number, PromiseWithResolvers<unknown>>();
  child.on('message', (reply: ReplyMessage) => {
    const call = pending.get(reply.id);
    pending.delete(reply.id);
    if ('error' in reply) call?.reject(new Error(reply.error));
    else call?.resolve(reply.value);
  });
  const ended = waitForExit(child).then(() => {
    for (const { reject } of pending.values()) reject(new Error(`the worker ${file} ended`));
  });
  let calls = 0;
  return {
    pid: child.pid ?? 0,
    call(name, ...[input]) {
      calls += 1;
      const call = Promise.withResolvers<unknown>();
      pending.set(calls, call);
      child.send({ id: calls, name, input } satisfies CallMessage, (error) => {
        if (error) call.reject(error);
      });
      return call.promise as never;
    },
    async close() {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}

/** The last line of a worker's file: replies to the parent's calls until the parent closes the channel. */
export function serveParent(functions: Functions, close: () => Promise<void> | void): void {
  process.on('message', async ({ id, name, input }: CallMessage) => {
    const reply = (content: object) => void process.send?.({ id, ...content } as ReplyMessage);
    try {
      reply({ value: await functions[name]?.(input) });
    } catch (error) {
      reply({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  });
  // A terminal sends Ctrl-C to every process; the parent decides when a worker ends.
  process.on('SIGINT', () => {});
  process.once('disconnect', async () => {
    await close();
    process.exit();
  });
}

/** Resolves when the process ended or could not be started. */
function waitForExit(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('error', () => resolve());
    child.once('exit', () => resolve());
  });
}

/** Processes that each play one part of a benchmark: the parent calls their functions by name. */
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';

// biome-ignore lint/suspicious/noExplicitAny: the functions of a part differ in what they take.
type Functions = Record<string, (input: any) => unknown>;

interface Question {
  id: number;
  name: string;
  input: unknown;
}

type Reply = { id: number; value: unknown } | { id: number; fault: string };

/** A running part. What goes in and comes out must be JSON. */
export interface Part<F extends Functions> {
  pid: number;
  call<K extends keyof F & string>(
    name: K,
    ...input: Parameters<F[K]>
  ): Promise<Awaited<ReturnType<F[K]>>>;
  /** Lets go of it; it ends by itself. */
  close(): Promise<void>;
}

/** Starts the worker in `file`, a path below bench/. A call rejects with what it threw, or when it died. */
export function startPart<F extends Functions>(file: string, execArgv: string[] = []): Part<F> {
  const child = fork(join(import.meta.dirname, '..', file), {
    execArgv: ['--disable-warning=ExperimentalWarning', ...execArgv],
  });
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  child.on('message', (reply: Reply) => {
    const call = waiting.get(reply.id);
    waiting.delete(reply.id);
    if ('fault' in reply) call?.reject(new Error(reply.fault));
    else call?.resolve(reply.value);
  });
  const ended = endOf(child).then(() => {
    for (const { reject } of waiting.values()) reject(new Error(`${file} ended`));
  });
  let calls = 0;
  return {
    pid: child.pid ?? 0,
    call(name, ...[input]) {
      calls += 1;
      const call = Promise.withResolvers<unknown>();
      waiting.set(calls, call);
      child.send({ id: calls, name, input } satisfies Question);
      return call.promise as never;
    },
    async close() {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}

/** What a part's file ends with: answers the parent's calls, and ends once the parent lets go. */
export function playPart(functions: Functions, close: () => Promise<void> | void): void {
  process.on('message', async ({ id, name, input }: Question) => {
    const reply = (what: object) => void process.send?.({ id, ...what } as Reply);
    try {
      reply({ value: await functions[name]?.(input) });
    } catch (error) {
      reply({ fault: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  });
  // A terminal's Ctrl-C reaches everyone; the parent says when it is time.
  process.on('SIGINT', () => {});
  process.once('disconnect', async () => {
    await close();
    process.exit();
  });
}

function endOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('error', () => resolve());
    child.once('exit', () => resolve());
  });
}

/** For the tests: starts receivers in a process of their own, so that their CPU is not the sender's. */
import { fork } from 'node:child_process';
import { once } from 'node:events';

export interface Receivers {
  /** By the name of the answer; an ordinary receiver is at "http:", and by TLS at "https:". */
  readonly ports: Readonly<Record<string, number>>;
  close(): Promise<void>;
}

/** `cert` and `key` are paths of PEM files. */
export async function startReceivers({
  cert,
  key,
}: {
  cert: string;
  key: string;
}): Promise<Receivers> {
  const child = fork(new URL('./test-receiver-process.ts', import.meta.url), [cert, key]);
  const [ports] = await once(child, 'message');
  return {
    ports,
    async close() {
      child.disconnect();
      await once(child, 'exit');
    },
  };
}

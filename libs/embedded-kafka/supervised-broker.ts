/** Keeps a broker of an embedded Kafka running: one that dies is started again where it was. */
import { backoffMs } from '@creditlane/runtime/concurrency/backoff';
import { WakeSignal } from '@creditlane/runtime/concurrency/wake-signal';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { type Broker, type BrokerOptions, startBroker } from './broker.ts';

export type SupervisedBroker = Pick<Broker, 'stop'>;

const RESTART = { baseMs: 250, capMs: 10_000 };
/** Who ran this long and dies then is started again soon. */
const STABLE_MS = 30_000;

/** Starts a broker and resolves once it serves; throws as `startBroker` does, the first time only. */
export async function superviseBroker(
  options: BrokerOptions,
  log?: Log,
): Promise<SupervisedBroker> {
  let broker = await startBroker(options);
  const stopped = new AbortController();

  const keep = async () => {
    const pause = new WakeSignal();
    let startedMs = performance.now();
    for (let failures = 0; ; ) {
      await broker.ended;
      if (stopped.signal.aborted) return;
      failures = performance.now() - startedMs > STABLE_MS ? 1 : failures + 1;
      log?.error({ folder: options.folder }, 'a Kafka broker is dead and is started again');
      await pause.wait(backoffMs(failures, RESTART), stopped.signal);
      if (stopped.signal.aborted) return;
      startedMs = performance.now();
      try {
        broker = await startBroker(options);
      } catch (err) {
        log?.error({ err }, 'a Kafka broker could not be started again');
      }
      // Told to stop while it was starting.
      if (stopped.signal.aborted) await broker.stop('SIGKILL');
    }
  };
  const keeping = keep();

  return {
    async stop(signal) {
      stopped.abort();
      await broker.stop(signal);
      await keeping;
    },
  };
}

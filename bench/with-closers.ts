import { Closers } from '@creditlane/runtime/closers';

/** The processes of a platform stop one after the other, each within ten seconds. */
const CLOSE_WITHIN_MS = 60_000;

/** Runs the work and then its closers, which also run when a signal ends the process. */
export async function withClosers(work: (closers: Closers) => Promise<void>): Promise<void> {
  const closers = new Closers({ deadlineMs: CLOSE_WITHIN_MS });
  const stop = () => void closers.close().finally(() => process.exit(1));
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    await work(closers);
  } finally {
    await closers.close();
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}

/** A step shorter than this prints nothing. */
const QUIET_MS = 1_000;

/** Runs one step of the start; prints a line once the step takes longer than a second. */
export async function step<T>(what: string, work: () => Promise<T>): Promise<T> {
  const timer = setTimeout(() => process.stdout.write(`${what} …\n`), QUIET_MS);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
  }
}

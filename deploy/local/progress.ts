/** A step shorter than this passes without a word. */
const QUIET_MS = 1_000;

/** Runs one step of the start; a line says what is going on once it takes longer than a second. */
export async function step<T>(what: string, work: () => Promise<T>): Promise<T> {
  const timer = setTimeout(() => process.stdout.write(`${what} …\n`), QUIET_MS);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
  }
}

/** Runs a part of the run, and prints how long it took. */
export async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  try {
    return await work();
  } finally {
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
    process.stdout.write(`${seconds.padStart(7)} s  ${what}\n`);
  }
}

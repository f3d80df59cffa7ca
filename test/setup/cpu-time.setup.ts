/** Notes the CPU time that each test file takes in the file's `meta`, from where tasks/test.ts reads it. */
import { readFileSync } from 'node:fs';
import { afterAll } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** Of the worker while it ran the file, and of the processes that the file started and that have ended. */
    cpuSeconds?: number;
  }
}

/** In /proc, on Linux. */
const TICKS_IN_A_SECOND = 100;

/** Without what ended child processes took on systems other than Linux. */
function usedSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + childrenSeconds();
}

function childrenSeconds(): number {
  if (process.platform !== 'linux') return 0;
  // The fields after the program's name, which ends with the last parenthesis, begin with the third.
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[13]) + Number(fields[14])) / TICKS_IN_A_SECOND;
}

const before = usedSeconds();
// biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures the hook needs.
afterAll(({}, suite) => {
  suite.meta.cpuSeconds = usedSeconds() - before;
});

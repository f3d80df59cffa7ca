import { Closers } from '../closers.ts';
import { Health } from '../health.ts';
import type { Process } from '../run.ts';
import { createLog, type LogLevel } from '../telemetry/log.ts';
import { Metrics } from '../telemetry/metrics.ts';

/** For the tests: a `Process`, which the test closes itself. Without `destination` it logs nothing. */
export function createTestProcess(
  name: string,
  destination?: { write(line: string): void },
  level: LogLevel = 'info',
): Process {
  return {
    log: createLog(name, destination ? { destination, level } : { level: 'silent' }),
    metrics: new Metrics(),
    closers: new Closers(),
    health: new Health(),
  };
}

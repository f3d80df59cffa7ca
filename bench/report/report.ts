/** The printed page: the machine, how each figure was measured, and the figures beside their targets. */
import type { CreditFileResults } from '../measurements/credit-files.ts';
import type { SoakResults } from '../measurements/soak.ts';
import type { ThroughputResults } from '../measurements/throughput.ts';
import { RUN_MODES, type RunMode } from '../platform/run-mode.ts';
import { creditFileTable } from './credit-file-table.ts';
import { fixedRateTable } from './fixed-rate-table.ts';
import { formatMachine, type Machine } from './machine.ts';
import { soakTable } from './soak-table.ts';
import { cpuLine, throughputTable } from './throughput-table.ts';

/** The content of the results file. A part that was not measured is missing. */
export interface BenchResults {
  machine?: Machine;
  throughput: Partial<Record<RunMode, ThroughputResults>>;
  soak: Partial<Record<RunMode, SoakResults>>;
  creditFiles?: CreditFileResults;
}

const THROUGHPUT_METHOD = `How it is measured
- The platform, its PostgreSQL, in "processes" its Kafka broker, the load generator and the webhook
  receiver share this machine. fsync is on; services log as in production and record no traces.
- The limit: PostgreSQL runs the service's own prepared statement, sent by pg without gateway and service,
  before and after the gateway's measurement; the faster of both counts.
- Rates: a fixed number of callers, each of which starts its next operation when its last one has ended;
  the best of several numbers of callers.
- Latencies: operations start at half of that rate, whether or not earlier ones have ended, and are timed
  from sending.
- A webhook is timed to its first byte at a receiver that answers at once. "commit" is the beginning of the
  transaction by PostgreSQL's clock, since PostgreSQL records no time of a commit: the figure contains the
  duration of the transaction.
- Fixed rates: decisions on the applications in turn, so that the webhooks of one application wait for each
  other; a rate above the platform's maximum, or with which it did not keep up, has no figures. The idle
  platform gets no request.
- The backlog: deliveries that are all due when the measurement starts.
- The relay alone publishes events that are all in the outbox; the dispatcher alone starts when they are
  all in Kafka and ends with the last webhook. The first quarter of the events is warm-up.
- CPU time is that of services, PostgreSQL and Kafka together.
Compare ratios of one run, not figures of different runs.`;

const SOAK_METHOD = `How it is measured: half of the deliveries per second that the platform reaches, for the time below. Each
line is the least memory that several forced garbage collections left in its period. The growth of the
heap is the slope over the second half of the lines, when buffers and caches with a limit are full. Its
target is below the size of the smallest object, so that a leak of one object per delivery exceeds it. The
growth of the resident set contains memory that the allocators keep for later.`;

const CREDIT_FILE_METHOD = `How it is measured: one thread reads the same answer again and again, in turns with the XML parser alone,
which keeps nothing of the answer. A second is one of CPU time, garbage collection included.`;

/** The results as text for a terminal. */
export function formatReport(results: BenchResults): string {
  const { machine, throughput, soak, creditFiles } = results;
  const measured = RUN_MODES.flatMap((runMode) => {
    const results = throughput[runMode];
    return results === undefined ? [] : [{ runMode, results }];
  });
  const lines = machine === undefined ? [] : [formatMachine(machine)];
  if (measured.length > 0) {
    const table = throughputTable(measured);
    lines.push('', THROUGHPUT_METHOD, '', ...table, '', ...measured.flatMap(cpuLine));
  }
  for (const { runMode, results } of measured) {
    lines.push(
      '',
      `At fixed rates, ${runMode}`,
      '',
      ...fixedRateTable(runMode, results.fixedRates),
    );
  }
  for (const runMode of RUN_MODES) {
    const results = soak[runMode];
    if (results !== undefined) lines.push('', SOAK_METHOD, '', ...soakTable(runMode, results));
  }
  if (creditFiles !== undefined) {
    lines.push('', CREDIT_FILE_METHOD, '', ...creditFileTable(creditFiles));
  }
  return lines.join('\n');
}

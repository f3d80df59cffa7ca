/** The time from a decision's commit, by PostgreSQL's clock, to the arrival of its webhook, by Node's. */
import { runSql } from '../data/sql.ts';
import { type Latency, summarizeTimes } from './latency.ts';

/**
 * Measures the newest events in the outbox of a decisions database. `arrivals` has the arrival of each
 * webhook, by performance.now() and the decision's marker. PostgreSQL does not record when a commit
 * ended, so the time starts at the beginning of the transaction and contains its duration: the result
 * is too high rather than too low.
 */
export async function readCommitLatency(
  url: string,
  newest: number,
  arrivals: ReadonlyMap<string, number>,
): Promise<Latency> {
  const clockOffsetMs = readClockOffsetMs();
  const rows = await runSql(
    url,
    `SELECT split_part(payload #>> '{decision,conditions}', ' ', 1) AS marker,
       extract(epoch FROM created_at)::float8 * 1000 AS at_ms
     FROM outbox ORDER BY id DESC LIMIT $1`,
    [newest],
  );
  const timesMs = rows.flatMap(({ marker, at_ms }) => {
    const arrivedMs = arrivals.get(String(marker));
    return arrivedMs === undefined ? [] : [clockOffsetMs + arrivedMs - Number(at_ms)];
  });
  return summarizeTimes(timesMs);
}

/**
 * The system clock's time at which performance.now() was 0, to a few microseconds. Read at the end of
 * each load, because the two clocks drift apart over minutes by more than the measured times.
 */
function readClockOffsetMs(): number {
  const before = Date.now();
  for (;;) {
    const now = Date.now();
    if (now > before) return now - performance.now();
  }
}

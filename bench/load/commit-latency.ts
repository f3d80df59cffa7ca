/** How long after its commit a decision is heard of: PostgreSQL's clock tells of the one, ours of the other. */

import { run } from '../data/submissions.ts';
import { type Latency, summarise } from './latency.ts';

/**
 * From the beginning of the transaction that wrote each of the newest events in a decisions service's
 * outbox, to its webhook's arrival, by performance.now() and the decision's mark. The commit tells
 * nobody its time, so its own duration is in the figure: that is rather too high than too low.
 */
export async function sinceWriting(
  url: string,
  newest: number,
  arrivals: ReadonlyMap<string, number>,
): Promise<Latency> {
  const clockMs = millisecondsAtStart();
  const rows = await run(
    url,
    `SELECT split_part(payload #>> '{decision,conditions}', ' ', 1) AS mark,
       extract(epoch FROM created_at)::float8 * 1000 AS at_ms
     FROM outbox ORDER BY id DESC LIMIT $1`,
    [newest],
  );
  const timesMs = rows.flatMap(({ mark, at_ms }) => {
    const arrivedMs = arrivals.get(String(mark));
    return arrivedMs === undefined ? [] : [clockMs + arrivedMs - Number(at_ms)];
  });
  return summarise(timesMs);
}

/**
 * What the machine's clock had when performance.now() began, to a few microseconds. Asked for at the
 * end of each load: over minutes, the two drift apart by more than there is to measure.
 */
function millisecondsAtStart(): number {
  const before = Date.now();
  for (;;) {
    const now = Date.now();
    if (now > before) return now - performance.now();
  }
}

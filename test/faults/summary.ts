import type { History, Write } from './history.ts';

/** How long nobody had a write accepted, at the longest. */
export function longestPauseMs(writes: Write[]): number {
  const accepted = writes.filter(({ outcome, requests }) => outcome === 'ok' && requests > 0);
  const ended = accepted.map(({ endedMs }) => endedMs).sort((a, b) => a - b);
  return ended.slice(1).reduce((longest, endedMs, index) => {
    return Math.max(longest, endedMs - (ended[index] ?? endedMs));
  }, 0);
}

/** Tells in one line what a run did and saw. */
export function summarise(name: string, { writes, reads, arrivals, crashes }: History): void {
  const outcomes = Map.groupBy(writes, ({ outcome }) => outcome);
  const count = (outcome: Write['outcome']) => outcomes.get(outcome)?.length ?? 0;
  const again = arrivals.length - new Set(arrivals.map(({ webhookId }) => webhookId)).size;
  say(
    `${name}: ${count('ok')} ok, ${count('fail')} refused, ${count('unknown')} unknown; ` +
      `${writes.reduce((sum, { requests }) => sum + requests, 0)} requests, ${reads.length} histories read; ` +
      `${arrivals.length} webhooks, ${again} of them again; ${crashes.length} crashes; ` +
      `longest time without an accepted write ${Math.round(longestPauseMs(writes))} ms`,
  );
}

/** Shown whether or not the test passes. */
export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

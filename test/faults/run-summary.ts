import { type Arrival, type History, isAccepted, type Write } from './history/history.ts';

/** How long nobody had a write accepted, at the longest. */
export function longestPauseMs(writes: Write[]): number {
  const accepted = writes.filter(({ outcome, requests }) => outcome === 'ok' && requests > 0);
  const ended = accepted.map(({ endedMs }) => endedMs).sort((a, b) => a - b);
  return ended.slice(1).reduce((longest, endedMs, index) => {
    return Math.max(longest, endedMs - (ended[index] ?? endedMs));
  }, 0);
}

/** How long it was, at the longest, from the answer to who decided to the webhook that was accepted. */
export function longestWaitMs({ writes, arrivals }: History): number {
  const firsts = new Map<string, Arrival>();
  for (const arrival of arrivals) {
    if (isAccepted(arrival) && !firsts.has(arrival.mark)) firsts.set(arrival.mark, arrival);
  }
  return writes.reduce((longest, { mark, endedMs, outcome }) => {
    const first = outcome === 'ok' ? firsts.get(mark) : undefined;
    return Math.max(longest, (first?.atMs ?? endedMs) - endedMs);
  }, 0);
}

/** Tells in one line what a run did and saw. */
export function summarise(name: string, history: History): void {
  const { writes, reads, arrivals, crashes } = history;
  const outcomes = Map.groupBy(writes, ({ outcome }) => outcome);
  const count = (outcome: Write['outcome']) => outcomes.get(outcome)?.length ?? 0;
  const again = arrivals.length - new Set(arrivals.map(({ webhookId }) => webhookId)).size;
  say(
    `${name}: ${count('ok')} ok, ${count('fail')} refused, ${count('unknown')} unknown; ` +
      `${writes.reduce((sum, { requests }) => sum + requests, 0)} requests, ${reads.length} histories read; ` +
      `${arrivals.length} webhooks, ${again} of them again; ${crashes.length} crashes; ` +
      `longest time without an accepted write ${Math.round(longestPauseMs(writes))} ms, ` +
      `longest wait for a webhook ${Math.round(longestWaitMs(history))} ms`,
  );
}

/** Shown whether or not the test passes. */
export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

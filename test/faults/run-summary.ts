import { type History, isAccepted, type WebhookRequest, type Write } from './history/history.ts';

/** The longest time between two consecutive accepted writes. */
export function longestWritePauseMs(writes: Write[]): number {
  const accepted = writes.filter(({ outcome, requests }) => outcome === 'ok' && requests > 0);
  const ended = accepted.map(({ endedMs }) => endedMs).sort((a, b) => a - b);
  return ended.slice(1).reduce((longest, endedMs, index) => {
    return Math.max(longest, endedMs - (ended[index] ?? endedMs));
  }, 0);
}

/** The longest time between the answer to a write and the first accepted attempt of its webhook. */
export function longestWebhookDelayMs({ writes, webhooks }: History): number {
  const firstAccepted = new Map<string, WebhookRequest>();
  for (const webhook of webhooks) {
    if (isAccepted(webhook) && !firstAccepted.has(webhook.marker)) {
      firstAccepted.set(webhook.marker, webhook);
    }
  }
  return writes.reduce((longest, { marker, endedMs, outcome }) => {
    const first = outcome === 'ok' ? firstAccepted.get(marker) : undefined;
    return Math.max(longest, (first?.atMs ?? endedMs) - endedMs);
  }, 0);
}

/** Prints one line with the counts and the longest times of a run, and one for each reason why reads failed. */
export function printSummary(name: string, history: History): void {
  const { writes, reads, failedReads, webhooks, crashes } = history;
  const byOutcome = Map.groupBy(writes, ({ outcome }) => outcome);
  const count = (outcome: Write['outcome']) => byOutcome.get(outcome)?.length ?? 0;
  const requests = writes.reduce((sum, write) => sum + write.requests, 0);
  const repeated = webhooks.length - new Set(webhooks.map(({ webhookId }) => webhookId)).size;
  printLine(
    `${name}: writes: ${count('ok')} accepted, ${count('fail')} refused, ` +
      `${count('unknown')} of unknown outcome, in ${requests} requests; ${reads.length} reads, ` +
      `${failedReads.length} failed reads; ` +
      `webhooks: ${webhooks.length} requests, ${repeated} of them repeated; ` +
      `${crashes.length} crashes; ` +
      `longest time without an accepted write: ${Math.round(longestWritePauseMs(writes))} ms; ` +
      `longest time from a write to its webhook: ${Math.round(longestWebhookDelayMs(history))} ms`,
  );
  const byReason = Map.groupBy(failedReads, ({ reason }) => reason);
  for (const [reason, failed] of byReason) printLine(`  ${failed.length} failed reads: ${reason}`);
}

/** Prints to stdout, which vitest shows for passed tests, too. */
export function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Random histories of a platform that keeps its promises, to test the history checker with. */

import { pickOne, type Random } from '@creditlane/runtime/test-seeded-random';
import type { Crash, History, Read, StoredDecision, WebhookRequest, Write } from './history.ts';

const DECISIONS = [
  { decision: 'APPROVED', webhookPath: '/application-approved' },
  { decision: 'DECLINED', webhookPath: '/application-declined' },
  { decision: 'WITHDRAWN', webhookPath: null },
];
/** All writes start within this time. */
const WRITES_MS = 1_000;
const CRASH: Crash = { fromMs: 500, untilMs: 600, maxInFlight: 100 };

/** A write, and whether and when the platform stored it. */
interface SimulatedWrite {
  write: Write;
  effectMs: number;
  isStored: boolean;
}

/** Makes a history without violations. The same random numbers give the same history. */
export function makeHistory(random: Random, submissions = 3): History {
  const names = Array.from({ length: submissions }, (_, index) => `submission-${index + 1}`);
  const parts = names.map((name) => makeSubmissionHistory(name, random));
  const webhooks = parts.flatMap((part) => part.webhooks).sort((a, b) => a.atMs - b.atMs);
  const lastAttemptMs = new Map(webhooks.map(({ webhookId, atMs }) => [webhookId, atMs]));
  return {
    writes: parts.flatMap(({ writes }) => writes),
    reads: parts.flatMap(({ reads }) => reads),
    failedReads: [],
    decisions: parts.flatMap(({ decisions }) => decisions),
    events: parts.flatMap(({ decisions }) => structuredClone(decisions)),
    webhooks,
    deliveries: [...lastAttemptMs].map(([webhookId, atMs]) => ({ webhookId, atMs: atMs + 1 })),
    crashes: [CRASH],
    overdueAttempts: [],
  };
}

function makeSubmissionHistory(submission: string, random: Random) {
  const simulated = Array.from({ length: 4 + Math.floor(random() * 8) }, (_, index) =>
    makeWrite(submission, index, random),
  ).sort((a, b) => a.effectMs - b.effectMs);
  const stored = simulated.filter(({ isStored }) => isStored);
  const decisions = stored.map(({ write: { marker, decision } }, index): StoredDecision => {
    return { submission, sequence: index + 1, marker, decision };
  });
  const shownAt = (atMs: number) =>
    structuredClone(decisions.filter((_, index) => (stored[index]?.effectMs ?? 0) <= atMs)).map(
      ({ submission: _, ...shown }) => shown,
    );
  const readTimesMs = [random() * WRITES_MS, random() * WRITES_MS, 10 * WRITES_MS];
  const reads = readTimesMs.map((startedMs): Read => {
    return { submission, startedMs, decisions: shownAt(startedMs + random() * 50) };
  });
  const notified = stored.filter(({ write }) => write.webhookPath !== null);
  return {
    writes: simulated.map(({ write }) => write),
    decisions,
    reads,
    webhooks: makeWebhooks(notified, random),
  };
}

function makeWrite(submission: string, index: number, random: Random): SimulatedWrite {
  const { decision, webhookPath } = pickOne(random, DECISIONS);
  const startedMs = random() * WRITES_MS;
  const effectMs = startedMs + random() * 100;
  const outcome = pickOne<Write['outcome']>(random, ['ok', 'ok', 'ok', 'fail', 'unknown']);
  const isStored = outcome === 'ok' || (outcome === 'unknown' && random() < 0.5);
  // The last request of a write of unknown outcome may have ended before the write took effect.
  const endedMs = (outcome === 'unknown' ? startedMs : effectMs) + random() * 100;
  const marker = `${submission} ${index}`;
  const requests = 1 + Math.floor(random() * 3);
  const write = {
    submission,
    marker,
    decision,
    webhookPath,
    startedMs,
    endedMs,
    outcome,
    requests,
  };
  return { write, effectMs, isStored };
}

/**
 * Each delivery waits for the one before it. Some attempts fail first; some deliveries that were
 * accepted before the crash ended are sent again after it.
 */
function makeWebhooks(stored: SimulatedWrite[], random: Random): WebhookRequest[] {
  let previousMs = 0;
  return stored.flatMap(({ write, effectMs }, index) => {
    const { submission, marker, webhookPath } = write;
    const makeAttempt = (answer: number | undefined): WebhookRequest => {
      previousMs = Math.max(previousMs, effectMs) + 1 + random() * 20;
      return {
        atMs: previousMs,
        submission,
        marker,
        sequence: index + 1,
        webhookId: `id of ${marker}`,
        bodyHash: `hash of ${marker}`,
        path: webhookPath ?? '',
        signed: true,
        answer,
      };
    };
    const failed = Array.from({ length: Math.floor(random() * 3) }, () =>
      makeAttempt(pickOne(random, [500, undefined])),
    );
    const accepted = makeAttempt(204);
    const isResent = accepted.atMs <= CRASH.untilMs && random() < 0.5;
    if (!isResent) return [...failed, accepted];
    previousMs = Math.max(previousMs, CRASH.fromMs);
    return [...failed, accepted, makeAttempt(204)];
  });
}

/** Histories of a Creditlane that keeps its promises, made up by chance to try the checker on. */
import type { Arrival, Crash, History, Kept, Read, Write } from './history.ts';
import { oneOf } from './seeded-random.ts';

const KINDS = [
  ['APPROVED', '/application-approved'],
  ['DECLINED', '/application-declined'],
  ['WITHDRAWN', null],
] as const;
const SPAN_MS = 1_000;
const CRASH: Crash = { fromMs: 500, untilMs: 600, inFlight: 100 };

type Random = () => number;

/** A correct history; the same for the same numbers. */
export function imagineHistory(random: Random, submissions = 3): History {
  const names = Array.from({ length: submissions }, (_, index) => `submission-${index + 1}`);
  const parts = names.map((name) => imagineChapter(name, random));
  const arrivals = parts.flatMap((part) => part.arrivals).sort((a, b) => a.atMs - b.atMs);
  const lastMs = new Map(arrivals.map(({ webhookId, atMs }) => [webhookId, atMs]));
  return {
    writes: parts.flatMap(({ writes }) => writes),
    reads: parts.flatMap(({ reads }) => reads),
    decisions: parts.flatMap(({ decisions }) => decisions),
    events: parts.flatMap(({ decisions }) => structuredClone(decisions)),
    arrivals,
    recorded: [...lastMs].map(([webhookId, atMs]) => ({ webhookId, atMs: atMs + 1 })),
    crashes: [CRASH],
  };
}

function imagineChapter(submission: string, random: Random) {
  const tries = Array.from({ length: 4 + Math.floor(random() * 8) }, (_, index) =>
    imagineWrite(submission, index, random),
  ).sort((a, b) => a.effectMs - b.effectMs);
  const effective = tries.filter(({ takesEffect }) => takesEffect);
  const decisions = effective.map(({ write: { mark, decision } }, index): Kept => {
    return { submission, sequence: index + 1, mark, decision };
  });
  const seenAt = (atMs: number) =>
    structuredClone(decisions.filter((_, index) => (effective[index]?.effectMs ?? 0) <= atMs)).map(
      ({ submission: _, ...version }) => version,
    );
  const reads = [random() * SPAN_MS, random() * SPAN_MS, 10 * SPAN_MS].map((startedMs): Read => {
    return { submission, startedMs, versions: seenAt(startedMs + random() * 50) };
  });
  const told = effective.filter(({ write }) => write.webhook !== null);
  return {
    writes: tries.map(({ write }) => write),
    decisions,
    reads,
    arrivals: imagineArrivals(told, random),
  };
}

function imagineWrite(submission: string, index: number, random: Random) {
  const [decision, webhook] = oneOf(random, KINDS);
  const startedMs = random() * SPAN_MS;
  const effectMs = startedMs + random() * 100;
  const outcome = oneOf<Write['outcome']>(random, ['ok', 'ok', 'ok', 'fail', 'unknown']);
  const takesEffect = outcome === 'ok' || (outcome === 'unknown' && random() < 0.5);
  const endedMs = effectMs + random() * 100;
  const mark = `${submission} ${index}`;
  const requests = 1 + Math.floor(random() * 3);
  const asked = { submission, mark, decision, webhook, startedMs, endedMs, outcome, requests };
  return { write: asked satisfies Write, effectMs, takesEffect };
}

/** Each delivery waits for the one before it; some are refused first, some come twice for the crash. */
function imagineArrivals(told: { write: Write; effectMs: number }[], random: Random): Arrival[] {
  let freeMs = 0;
  return told.flatMap(({ write: { submission, mark, webhook }, effectMs }, index) => {
    const attempt = (answer: number | undefined): Arrival => {
      freeMs = Math.max(freeMs, effectMs) + 1 + random() * 20;
      const webhookId = `id of ${mark}`;
      const same = { webhookId, bodyHash: `hash of ${mark}`, path: webhook ?? '' };
      return { atMs: freeMs, submission, mark, sequence: index + 1, ...same, signed: true, answer };
    };
    const refused = Array.from({ length: Math.floor(random() * 3) }, () =>
      attempt(oneOf(random, [500, undefined])),
    );
    const accepted = attempt(204);
    const mayRepeat = accepted.atMs <= CRASH.untilMs && random() < 0.5;
    if (!mayRepeat) return [...refused, accepted];
    freeMs = Math.max(freeMs, CRASH.fromMs);
    return [...refused, accepted, attempt(204)];
  });
}

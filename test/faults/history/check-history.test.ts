import { seededRandom } from '@creditlane/runtime/test-seeded-random';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkHistory } from './check-history.ts';
import type { History, ShownDecision, StoredDecision, WebhookRequest, Write } from './history.ts';
import { makeHistory } from './make-history.ts';
import type { ViolationKind } from './violation.ts';

const SUBMISSION = 'submission-1';

/** A correct history: three writes one after the other, each stored, shown, and sent as a webhook. */
function threeWrites(): History {
  const shown = ['one', 'two', 'three'].map((marker, index): ShownDecision => {
    return { sequence: index + 1, marker, decision: 'APPROVED' };
  });
  const makeRows = () =>
    shown.map((decision): StoredDecision => ({ submission: SUBMISSION, ...decision }));
  const makeRead = (startedMs: number) => {
    return { submission: SUBMISSION, startedMs, decisions: structuredClone(shown) };
  };
  const writes = shown.map(({ marker, decision }, index): Write => {
    return {
      submission: SUBMISSION,
      marker,
      decision,
      webhookPath: '/approved',
      startedMs: 100 * index,
      endedMs: 100 * index + 50,
      outcome: 'ok',
      requests: 1,
    };
  });
  const webhooks = shown.map(({ marker, sequence }, index): WebhookRequest => {
    return {
      atMs: 100 * index + 60,
      submission: SUBMISSION,
      webhookId: `id-${marker}`,
      sequence,
      marker,
      path: '/approved',
      bodyHash: `hash-${marker}`,
      signed: true,
      answer: 204,
    };
  });
  return {
    writes,
    reads: [makeRead(260), makeRead(9_000)],
    failedReads: [],
    decisions: makeRows(),
    events: makeRows(),
    webhooks,
    deliveries: [],
    crashes: [],
    overdueAttempts: [],
  };
}

/** Every list of a history in which a decision appears. */
const decisionLists = ({ reads, decisions, events, webhooks }: History) => [
  decisions as Pick<ShownDecision, 'sequence' | 'marker'>[],
  events,
  webhooks,
  ...reads.map((read) => read.decisions),
];

/** Like `Array.at`, but throws when there is no such entry. */
function entryAt<T>(list: readonly T[], index: number): T {
  const entry = list.at(index);
  if (entry === undefined) throw new Error(`the list has no entry ${index}`);
  return entry;
}

/** A bug of the platform that breaks one rule and no other. */
interface Bug {
  kind: ViolationKind;
  name: string;
  /** Changes a correct history to what the bug would leave. */
  apply(history: History): void;
}

const BUGS: Bug[] = [
  {
    kind: 'lost',
    name: 'an accepted write without any effect',
    apply(history) {
      for (const list of decisionLists(history)) list.pop();
    },
  },
  {
    kind: 'lost',
    name: 'a webhook that was never sent',
    apply: ({ webhooks }) => void webhooks.pop(),
  },
  {
    kind: 'lost',
    name: 'a webhook that was never accepted',
    apply: ({ webhooks }) => void Object.assign(entryAt(webhooks, -1), { answer: 500 }),
  },
  {
    kind: 'lost',
    name: 'a read that does not show a write accepted before it',
    apply: ({ reads }) => void entryAt(reads, 0).decisions.splice(1),
  },
  {
    kind: 'phantom',
    name: 'a refused write that took effect',
    apply: ({ writes }) => void Object.assign(entryAt(writes, 1), { outcome: 'fail' }),
  },
  {
    kind: 'phantom',
    name: 'a decision without a write',
    apply: ({ writes }) => void writes.splice(1, 1),
  },
  {
    kind: 'phantom',
    name: 'a webhook of an event that the database rolled back',
    apply({ webhooks }) {
      const rolledBack = { marker: 'rolled back', webhookId: 'rolled back', sequence: 4 };
      webhooks.push({ ...entryAt(webhooks, -1), ...rolledBack, atMs: 300 });
    },
  },
  {
    kind: 'duplicated',
    name: 'a repeated request with a second effect',
    apply(history) {
      for (const list of decisionLists(history)) {
        list.push(Object.assign({}, entryAt(list, -1), { sequence: 4, webhookId: 'another' }));
      }
    },
  },
  {
    kind: 'reordered',
    name: 'decisions stored in another order than written',
    apply(history) {
      for (const list of decisionLists(history)) swapFirstMarkers(list);
    },
  },
  {
    kind: 'reordered',
    name: 'a webhook that overtook another',
    apply: ({ webhooks }) => void webhooks.push(...webhooks.splice(1, 1)),
  },
  {
    kind: 'reordered',
    name: 'webhooks numbered against their order',
    apply({ webhooks }) {
      for (const webhook of webhooks) webhook.sequence = 4 - webhook.sequence;
    },
  },
  {
    kind: 'gap',
    name: 'a sequence number of the decisions left out',
    apply({ reads, decisions, events }) {
      const lists = [decisions, events, ...reads.map((read) => read.decisions)];
      for (const list of lists) entryAt(list, -1).sequence = 4;
    },
  },
  {
    kind: 'gap',
    name: 'a webhook-sequence left out',
    apply: ({ webhooks }) => void Object.assign(entryAt(webhooks, -1), { sequence: 4 }),
  },
  {
    kind: 'changed',
    name: 'another body in the second attempt',
    apply: ({ webhooks }) => addSecondAttempt(webhooks, { bodyHash: 'other' }),
  },
  {
    kind: 'changed',
    name: 'another id in the second attempt',
    apply: ({ webhooks }) => addSecondAttempt(webhooks, { webhookId: 'other' }),
  },
  {
    kind: 'forged',
    name: 'a signature that does not verify',
    apply: ({ webhooks }) => void Object.assign(entryAt(webhooks, 1), { signed: false }),
  },
  {
    kind: 'resent',
    name: 'an accepted webhook sent again without a crash',
    apply: ({ webhooks }) => void webhooks.push({ ...entryAt(webhooks, -1), atMs: 400 }),
  },
  {
    kind: 'resent',
    name: 'a webhook sent again although its success was recorded',
    apply(history) {
      addCrashAndResend(history, 10);
      history.deliveries.push({ webhookId: 'id-three', atMs: 310 });
      history.deliveries.push({ webhookId: 'id-three', atMs: 9_000 });
    },
  },
  {
    kind: 'resent',
    name: 'more webhooks sent again after a crash than were under way',
    apply: (history) => addCrashAndResend(history, 0),
  },
  {
    kind: 'divergent',
    name: 'an API that shows another order than the database',
    apply: ({ reads }) => swapFirstMarkers(entryAt(reads, -1).decisions),
  },
  {
    kind: 'divergent',
    name: 'an API that does not show the last decision, whose outcome was unknown',
    apply({ writes, reads }) {
      entryAt(writes, -1).outcome = 'unknown';
      entryAt(reads, -1).decisions = entryAt(reads, -1).decisions.slice(0, -1);
    },
  },
  {
    kind: 'divergent',
    name: 'a decision without an event',
    apply: ({ events }) => void events.pop(),
  },
  {
    kind: 'divergent',
    name: 'events in another order than the decisions',
    apply: ({ events }) => swapFirstMarkers(events),
  },
  {
    kind: 'divergent',
    name: 'another decision stored than written',
    apply: ({ writes }) => void Object.assign(entryAt(writes, 1), { decision: 'DECLINED' }),
  },
  {
    kind: 'divergent',
    name: 'a webhook with the path of another decision',
    apply: ({ webhooks }) => void Object.assign(entryAt(webhooks, 1), { path: '/declined' }),
  },
];

/** Exchanges the markers of the first two entries; their sequence numbers stay. */
function swapFirstMarkers(list: { marker: string }[]): void {
  const [first, second] = [entryAt(list, 0), entryAt(list, 1)];
  [first.marker, second.marker] = [second.marker, first.marker];
}

/** Makes the last attempt a failed one, and adds a second attempt with a change. */
function addSecondAttempt(webhooks: WebhookRequest[], change: Partial<WebhookRequest>): void {
  const last = entryAt(webhooks, -1);
  webhooks.push({ ...last, ...change, atMs: last.atMs + 10 });
  last.answer = 500;
}

/** Adds a crash after the last webhook was accepted, and the same webhook again after the crash. */
function addCrashAndResend({ webhooks, crashes }: History, maxInFlight: number): void {
  crashes.push({ fromMs: 300, untilMs: 310, maxInFlight });
  webhooks.push({ ...entryAt(webhooks, -1), atMs: 400 });
}

/** Adds an overdue attempt at the last webhook, which the receiver accepted; returns the webhook. */
function addOverdueAttempt({ webhooks, overdueAttempts }: History): WebhookRequest {
  const webhook = entryAt(webhooks, -1);
  const { webhookId, atMs } = webhook;
  overdueAttempts.push({ webhookId, fromMs: atMs - 1, untilMs: atMs + 15_000 });
  return webhook;
}

/** Adds the last webhook again. */
function addResend({ webhooks }: History, atMs: number): void {
  webhooks.push({ ...entryAt(webhooks, -1), atMs });
}

describe('the history checker', () => {
  test('a correct history has no violation', () => {
    expect(checkHistory(threeWrites())).toEqual([]);
  });

  test.each(BUGS)('$name is a violation of kind "$kind" and no other', ({ kind, apply }) => {
    const history = threeWrites();
    apply(history);
    const kinds = checkHistory(history).map((violation) => violation.kind);
    expect([...new Set(kinds)]).toEqual([kind]);
  });

  test('a webhook sent again across a crash that lost the record of its success is allowed', () => {
    const history = threeWrites();
    addCrashAndResend(history, 1);
    expect(checkHistory(history)).toEqual([]);
  });

  test('after an attempt that failed by the deadline although it was accepted, the webhook may be sent again once', () => {
    const history = threeWrites();
    const { webhookId, atMs } = addOverdueAttempt(history);
    addResend(history, atMs + 20_000);
    expect(checkHistory(history)).toEqual([]);
    addResend(history, atMs + 40_000);
    expect(checkHistory(history)).toMatchObject([{ kind: 'resent' }]);
    // A second such attempt, of the request that came at 20 s.
    const [fromMs, untilMs] = [atMs + 19_000, atMs + 34_000];
    history.overdueAttempts.push({ webhookId, fromMs, untilMs });
    expect(checkHistory(history)).toEqual([]);
  });

  test('an attempt that failed by the deadline and was not accepted permits nothing', () => {
    const history = threeWrites();
    const { webhookId, atMs } = entryAt(history.webhooks, -1);
    history.overdueAttempts.push({ webhookId, fromMs: atMs - 30_000, untilMs: atMs - 15_000 });
    addResend(history, atMs + 20_000);
    expect(checkHistory(history)).toMatchObject([{ kind: 'resent' }]);
  });

  test('a webhook that an overdue attempt permits does not count among those under way in a crash', () => {
    const history = threeWrites();
    addOverdueAttempt(history);
    addCrashAndResend(history, 0);
    expect(checkHistory(history)).toEqual([]);
  });

  test('a write of unknown outcome may be stored or not', () => {
    const history = threeWrites();
    entryAt(history.writes, -1).outcome = 'unknown';
    expect(checkHistory(history)).toEqual([]);
    for (const list of decisionLists(history)) list.pop();
    expect(checkHistory(history)).toEqual([]);
  });

  test('random correct histories have no violation', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        expect(checkHistory(makeHistory(seededRandom(seed)))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { judge } from './check-history.ts';
import type { Arrival, History, Kept, Version, Write } from './history.ts';
import { imagineHistory } from './make-history.ts';
import { randomFrom } from './seeded-random.ts';
import type { Rule } from './violation.ts';

const SUBMISSION = 'submission-1';

/** What all places that show a decision have in common. */
type Shown = Pick<Version, 'sequence' | 'mark'>;

/** A short plain history: three writes, one after the other, told and read. */
function threeWrites(): History {
  const names = ['one', 'two', 'three'];
  const versions = names.map((mark, index): Version => {
    return { sequence: index + 1, mark, decision: 'APPROVED' };
  });
  const kept = () => versions.map((version): Kept => ({ submission: SUBMISSION, ...version }));
  const read = (startedMs: number) => {
    return { submission: SUBMISSION, startedMs, versions: structuredClone(versions) };
  };
  const writes = versions.map(({ mark, decision }, index): Write => {
    const times = { startedMs: 100 * index, endedMs: 100 * index + 50 };
    const answered = { outcome: 'ok', requests: 1 } as const;
    return { submission: SUBMISSION, mark, decision, webhook: '/approved', ...times, ...answered };
  });
  const arrivals = versions.map(({ mark, sequence }, index): Arrival => {
    const its = { webhookId: `id-${mark}`, bodyHash: `hash-${mark}`, path: '/approved' };
    const atMs = 100 * index + 60;
    return { submission: SUBMISSION, mark, sequence, ...its, atMs, signed: true, answer: 204 };
  });
  const reads = [read(260), read(9_000)];
  const told = { decisions: kept(), events: kept(), arrivals };
  return { writes, reads, ...told, recorded: [], crashes: [] };
}

/** Every list in which versions stand. */
const everywhere = ({ reads, decisions, events, arrivals }: History): Shown[][] => [
  decisions,
  events,
  arrivals,
  ...reads.map(({ versions }) => versions),
];

function at<T>(list: readonly T[], index: number): T {
  const found = list.at(index);
  if (found === undefined) throw new Error(`there is no entry ${index}`);
  return found;
}

/** What each rule is there to catch: a bug that breaks this rule and no other. */
const BUGS: [Rule, string, (history: History) => void][] = [
  [
    'lost',
    'an accepted write that left no trace',
    (history) => {
      for (const list of everywhere(history)) list.pop();
    },
  ],
  ['lost', 'a webhook that never came', ({ arrivals }) => void arrivals.pop()],
  [
    'lost',
    'a webhook that was refused every time',
    ({ arrivals }) => void Object.assign(at(arrivals, -1), { answer: 500 }),
  ],
  [
    'lost',
    'a read that does not show what was accepted before it',
    ({ reads }) => void at(reads, 0).versions.splice(1),
  ],
  [
    'phantom',
    'a refused write that took effect',
    ({ writes }) => void Object.assign(at(writes, 1), { outcome: 'fail' }),
  ],
  ['phantom', 'a decision that nobody wrote', ({ writes }) => void writes.splice(1, 1)],
  [
    'phantom',
    'an event that the database rolled back',
    ({ arrivals }) => void arrivals.push(strange(at(arrivals, -1))),
  ],
  [
    'duplicated',
    'a repeated request with a second effect',
    (history) => {
      for (const list of everywhere(history)) {
        list.push(Object.assign({}, at(list, -1), { sequence: 4, webhookId: 'another' }));
      }
    },
  ],
  [
    'inverted',
    'decisions kept in another order than written',
    (history) => {
      for (const list of everywhere(history)) swapMarks(list);
    },
  ],
  [
    'inverted',
    'a webhook that overtook another',
    ({ arrivals }) => void arrivals.push(...arrivals.splice(1, 1)),
  ],
  [
    'inverted',
    'webhooks numbered against their order',
    ({ arrivals }) => {
      for (const it of arrivals) it.sequence = 4 - it.sequence;
    },
  ],
  [
    'gap',
    'a number of the history left out',
    ({ reads, decisions, events }) => {
      const lists = [decisions, events, ...reads.map(({ versions }) => versions)];
      for (const list of lists) at(list, -1).sequence = 4;
    },
  ],
  [
    'gap',
    'a webhook-sequence left out',
    ({ arrivals }) => void Object.assign(at(arrivals, -1), { sequence: 4 }),
  ],
  [
    'changed',
    'another body on the second attempt',
    ({ arrivals }) => void secondAttempt(arrivals, { bodyHash: 'other' }),
  ],
  [
    'changed',
    'another id on the second attempt',
    ({ arrivals }) => void secondAttempt(arrivals, { webhookId: 'other' }),
  ],
  [
    'forged',
    'a signature that does not verify',
    ({ arrivals }) => void Object.assign(at(arrivals, 1), { signed: false }),
  ],
  [
    'resent',
    'a delivery sent again without any crash',
    ({ arrivals }) => void arrivals.push({ ...at(arrivals, -1), atMs: 400 }),
  ],
  [
    'resent',
    'a delivery sent again although its success was recorded',
    (history) => {
      crashThenResend(history, 10);
      history.recorded.push({ webhookId: 'id-three', atMs: 310 });
      history.recorded.push({ webhookId: 'id-three', atMs: 9_000 });
    },
  ],
  [
    'resent',
    'more sent again after a crash than was under way',
    (history) => crashThenResend(history, 0),
  ],
  [
    'divergent',
    'an API that shows another order than the database',
    ({ reads }) => swapMarks(at(reads, -1).versions),
  ],
  [
    'divergent',
    'an API that does not show the last decision, whose outcome was unknown',
    ({ writes, reads }) => {
      at(writes, -1).outcome = 'unknown';
      at(reads, -1).versions = at(reads, -1).versions.slice(0, -1);
    },
  ],
  ['divergent', 'a decision without an event', ({ events }) => void events.pop()],
  ['divergent', 'events in another order than the decisions', ({ events }) => swapMarks(events)],
  [
    'divergent',
    'another decision kept than was written',
    ({ writes }) => void Object.assign(at(writes, 1), { decision: 'DECLINED' }),
  ],
  [
    'divergent',
    'a webhook of another kind than the decision',
    ({ arrivals }) => void Object.assign(at(arrivals, 1), { path: '/declined' }),
  ],
];

function strange(arrival: Arrival): Arrival {
  return { ...arrival, mark: 'strange', webhookId: 'strange', sequence: 4, atMs: 300 };
}

/** The first two change places; their numbers stay where they are. */
function swapMarks(list: { mark: string }[]): void {
  const [one, two] = [at(list, 0), at(list, 1)];
  [one.mark, two.mark] = [two.mark, one.mark];
}

function secondAttempt(arrivals: Arrival[], change: Partial<Arrival>): void {
  const last = at(arrivals, -1);
  arrivals.push({ ...last, ...change, atMs: last.atMs + 10 });
  last.answer = 500;
}

function crashThenResend({ arrivals, crashes }: History, inFlight: number): void {
  crashes.push({ fromMs: 300, untilMs: 310, inFlight });
  arrivals.push({ ...at(arrivals, -1), atMs: 400 });
}

describe('the checker of histories', () => {
  test('finds nothing wrong with a history that is right', () => {
    expect(judge(threeWrites())).toEqual([]);
  });

  test.each(BUGS)('%s: %s', (rule, _, seed) => {
    const history = threeWrites();
    seed(history);
    expect([...new Set(judge(history).map((offence) => offence.rule))]).toEqual([rule]);
  });

  test('excuses what was sent again because a crash took the word of its success', () => {
    const history = threeWrites();
    crashThenResend(history, 1);
    expect(judge(history)).toEqual([]);
  });

  test('a write of unknown outcome may have taken effect or not', () => {
    const history = threeWrites();
    at(history.writes, -1).outcome = 'unknown';
    expect(judge(history)).toEqual([]);
    for (const list of everywhere(history)) list.pop();
    expect(judge(history)).toEqual([]);
  });

  test('finds nothing wrong with any history of a system that keeps its promises', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        expect(judge(imagineHistory(randomFrom(seed)))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});

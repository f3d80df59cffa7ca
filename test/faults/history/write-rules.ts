/** The rules about writes: what the database, the events and the API show of each write. */
import type { History, ShownDecision, StoredDecision, Write } from './history.ts';
import { makeViolation, type Rule, type Violation } from './violation.ts';

/** D1: an accepted write is stored, and every read that starts later shows it. */
export const findLostWrites: Rule = ({ writes, reads, decisions }) => {
  const stored = new Set(decisions.map(({ marker }) => marker));
  const accepted = writes.filter(({ outcome }) => outcome === 'ok');
  const missing = accepted
    .filter(({ marker }) => !stored.has(marker))
    .map((write) => makeViolation('lost', 'an accepted write is not in the database', write));
  // `findDivergence` compares the last read with all decisions.
  const stale = reads.slice(0, -1).flatMap((read) => {
    const shown = new Set(read.decisions.map(({ marker }) => marker));
    return accepted
      .filter(({ marker, endedMs }) => {
        return endedMs < read.startedMs && stored.has(marker) && !shown.has(marker);
      })
      .map((write) =>
        makeViolation('lost', 'a read does not show a write accepted before it', write, read),
      );
  });
  return [...missing, ...stale];
};

/** D2: nothing appears anywhere that was not written, or whose write was refused. */
export const findPhantoms: Rule = (history) => {
  const writes = writesByMarker(history);
  const shownByReads = history.reads.flatMap((read) => read.decisions);
  const shown = [...history.decisions, ...history.events, ...shownByReads, ...history.webhooks];
  return shown.flatMap((entry) => {
    const write = writes.get(entry.marker);
    if (write === undefined) return [makeViolation('phantom', 'no write made this', entry)];
    return write.outcome === 'fail'
      ? [makeViolation('phantom', 'the write of this was refused', entry, write)]
      : [];
  });
};

/** D3: a write has one effect, with however many requests. */
export const findDuplicates: Rule = ({ decisions, events, webhooks }) => {
  const numberedTwice = [...Map.groupBy(webhooks, ({ marker }) => marker).values()].filter(
    (attempts) => new Set(attempts.map(({ sequence }) => sequence)).size > 1,
  );
  return [
    ...groupRepeated(decisions).map((rows) =>
      makeViolation('duplicated', 'a write is stored more than once', ...rows),
    ),
    ...groupRepeated(events).map((rows) =>
      makeViolation('duplicated', 'a write has more than one event', ...rows),
    ),
    ...numberedTwice.map((attempts) =>
      makeViolation('duplicated', 'a write has webhooks of several sequence numbers', ...attempts),
    ),
  ];
};

/** D4: a write that ended before another started is stored before it. One of unknown outcome may take effect at any later time. */
export const findReorderedWrites: Rule = (history) => {
  const writes = writesByMarker(history);
  const latestEffectMs = ({ outcome, endedMs }: Write) =>
    outcome === 'unknown' ? Number.POSITIVE_INFINITY : endedMs;
  const inStoredOrder = history.decisions.flatMap(({ marker }) => writes.get(marker) ?? []);
  let latestStarted: Write | undefined;
  return inStoredOrder.flatMap((write) => {
    const later =
      latestStarted !== undefined && latestEffectMs(write) < latestStarted.startedMs
        ? latestStarted
        : undefined;
    if (latestStarted === undefined || write.startedMs > latestStarted.startedMs) {
      latestStarted = write;
    }
    if (later === undefined) return [];
    const message = 'a write is stored after one that started when the first had ended';
    return [makeViolation('reordered', message, write, later)];
  });
};

/** D4: the sequence numbers of a submission's decisions are 1, 2, 3 … */
export const findSequenceGaps: Rule = ({ decisions }) =>
  decisions
    .filter(({ sequence }, index) => sequence !== index + 1)
    .slice(0, 1)
    .map((row) =>
      makeViolation('gap', 'this sequence number does not follow its predecessor', row),
    );

/** D7: database, events and API show the same decisions in the same order. */
export const findDivergence: Rule = (history) => {
  const { reads, decisions, events } = history;
  const writes = writesByMarker(history);
  const violations: Violation[] = decisions.flatMap((row) => {
    const write = writes.get(row.marker);
    return write === undefined || write.decision === row.decision
      ? []
      : [makeViolation('divergent', 'the stored decision is not the one written', row, write)];
  });
  const eventDifference = findDifference(decisions, events);
  if (eventDifference) {
    violations.push(
      makeViolation('divergent', 'the events differ from the decisions', ...eventDifference),
    );
  }
  reads.forEach((read, index) => {
    const isLast = index === reads.length - 1;
    const count = isLast ? decisions.length : read.decisions.length;
    const difference = findDifference(decisions.slice(0, count), read.decisions);
    if (difference) {
      const message = 'the API returned other decisions than the database holds';
      violations.push(makeViolation('divergent', message, ...difference, read));
    }
  });
  return violations;
};

function writesByMarker({ writes }: History): Map<string, Write> {
  return new Map(writes.map((write) => [write.marker, write]));
}

/** The entries that have the same marker as others, by marker. */
function groupRepeated(entries: StoredDecision[]): StoredDecision[][] {
  const groups = Map.groupBy(entries, ({ marker }) => marker).values();
  return [...groups].filter(({ length }) => length > 1);
}

/** The first pair of entries that differ; undefined when the lists are the same. */
function findDifference(expected: ShownDecision[], actual: ShownDecision[]): object[] | undefined {
  const length = Math.max(expected.length, actual.length);
  for (let index = 0; index < length; index += 1) {
    const [one, other] = [expected[index], actual[index]];
    const isSame =
      one?.marker === other?.marker &&
      one?.sequence === other?.sequence &&
      one?.decision === other?.decision;
    const missing = { missingAt: index + 1 };
    if (!isSame) return [one ?? missing, other ?? missing];
  }
  return undefined;
}

/** The rules of what becomes of a write in the database, in the events and in the API. */
import type { History, Kept, Version, Write } from './history.ts';
import { type Judge, type Offence, offenceOf } from './violation.ts';

/** D1: what was answered with success is kept, and seen by whoever reads after that. */
export const findLostWrites: Judge = ({ writes, reads, decisions }) => {
  const lost = offenceOf('lost');
  const kept = new Set(decisions.map(({ mark }) => mark));
  const accepted = writes.filter(({ outcome }) => outcome === 'ok');
  const missing = accepted
    .filter(({ mark }) => !kept.has(mark))
    .map((write) => lost('an accepted write is not in the database', write));
  // The last read is compared with the whole history elsewhere.
  const stale = reads.slice(0, -1).flatMap((read) => {
    const shown = new Set(read.versions.map(({ mark }) => mark));
    return accepted
      .filter(({ mark, endedMs }) => endedMs < read.startedMs && kept.has(mark) && !shown.has(mark))
      .map((write) => lost('a read does not show a write accepted before it', write, read));
  });
  return [...missing, ...stale];
};

/** D2: nothing shows anywhere that was not written, or that was refused. */
export const findPhantoms: Judge = (chapter) => {
  const phantom = offenceOf('phantom');
  const byMark = writesByMark(chapter);
  const reads = chapter.reads.flatMap(({ versions }) => versions);
  return [...chapter.decisions, ...chapter.events, ...reads, ...chapter.arrivals].flatMap((it) => {
    const write = byMark.get(it.mark);
    if (write === undefined) return [phantom('nobody wrote this', it)];
    return write.outcome === 'fail' ? [phantom('this write was refused', it, write)] : [];
  });
};

/** D3: a write has one effect, however often it was asked for. */
export const findDuplicates: Judge = ({ decisions, events, arrivals }) => {
  const duplicated = offenceOf('duplicated');
  const numbers = [...Map.groupBy(arrivals, ({ mark }) => mark).values()].filter(
    (its) => new Set(its.map(({ sequence }) => sequence)).size > 1,
  );
  return [
    ...repeated(decisions).map((its) => duplicated('a write is kept more than once', ...its)),
    ...repeated(events).map((its) => duplicated('a write has more than one event', ...its)),
    ...numbers.map((its) => duplicated('a write is told as several', ...its)),
  ];
};

/** D4: a write that ended before another began comes before it. */
export const findInvertedWrites: Judge = (chapter) => {
  const byMark = writesByMark(chapter);
  const inOrder = chapter.decisions.flatMap(({ mark }) => byMark.get(mark) ?? []);
  let latest: Write | undefined;
  return inOrder.flatMap((write) => {
    const offended = latest !== undefined && write.endedMs < latest.startedMs ? latest : undefined;
    if (latest === undefined || write.startedMs > latest.startedMs) latest = write;
    return offended === undefined
      ? []
      : [offenceOf('inverted')('kept behind a write that began after it ended', write, offended)];
  });
};

/** D4: the numbers of the decisions of a submission are 1, 2, 3 … */
export const findGapsInHistory: Judge = ({ decisions }) =>
  decisions
    .filter(({ sequence }, index) => sequence !== index + 1)
    .slice(0, 1)
    .map((it) => offenceOf('gap')('the first number that is not the next', it));

/** D7: database, events and API tell the same, in the same order. */
export const findDivergence: Judge = ({ writes, reads, decisions, events }) => {
  const divergent = offenceOf('divergent');
  const byMark = new Map(writes.map((write) => [write.mark, write]));
  const altered = decisions.flatMap((kept) => {
    const write = byMark.get(kept.mark);
    return write === undefined || write.decision === kept.decision
      ? []
      : [divergent('kept is another decision than was written', kept, write)];
  });
  const offences: Offence[] = [...altered];
  const missed = firstDifference(decisions, events);
  if (missed) offences.push(divergent('the events are not the decisions', ...missed));
  reads.forEach((read, index) => {
    const isLast = index === reads.length - 1;
    const until = isLast ? decisions.length : read.versions.length;
    const differs = firstDifference(decisions.slice(0, until), read.versions);
    if (differs) offences.push(divergent('the API gave another history', ...differs, read));
  });
  return offences;
};

function writesByMark({ writes }: History): Map<string, Write> {
  return new Map(writes.map((write) => [write.mark, write]));
}

function repeated(kept: Kept[]): Kept[][] {
  return [...Map.groupBy(kept, ({ mark }) => mark).values()].filter(({ length }) => length > 1);
}

/** The first place at which two lists of versions tell different things. */
function firstDifference(ours: Version[], theirs: Version[]): object[] | undefined {
  const length = Math.max(ours.length, theirs.length);
  for (let at = 0; at < length; at += 1) {
    const [one, other] = [ours[at], theirs[at]];
    const isSame =
      one?.mark === other?.mark &&
      one?.sequence === other?.sequence &&
      one?.decision === other?.decision;
    if (!isSame) return [one ?? { nothing: at + 1 }, other ?? { nothing: at + 1 }];
  }
  return undefined;
}

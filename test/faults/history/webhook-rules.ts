/** The rules of what the receiver gets, in which order, and how often. */
import { type Arrival, type Crash, type History, isAccepted } from './history.ts';
import { type Judge, type Offence, offenceOf } from './violation.ts';

/** D1: each decision that somebody is to be told of was received, with success, at least once. */
export const findUntold: Judge = ({ writes, decisions, arrivals }) => {
  const received = new Set(arrivals.filter(isAccepted).map(({ mark }) => mark));
  const byMark = new Map(writes.map((write) => [write.mark, write]));
  return decisions
    .filter(({ mark }) => byMark.get(mark)?.webhook && !received.has(mark))
    .map((kept) => offenceOf('lost')('the receiver never got this', kept));
};

/** D4: first deliveries come in the order of the decisions, and their numbers rise. */
export const findInvertedWebhooks: Judge = ({ decisions, arrivals }) => {
  const places = new Map(decisions.map(({ mark }, place) => [mark, place]));
  let before: Arrival | undefined;
  return firstArrivals(arrivals).flatMap((arrival) => {
    const last = before;
    before = arrival;
    if (last === undefined) return [];
    const [place, lastPlace] = [places.get(arrival.mark), places.get(last.mark)];
    const isPlaced = place === undefined || lastPlace === undefined || place >= lastPlace;
    if (isPlaced && arrival.sequence >= last.sequence) return [];
    return [offenceOf('inverted')('received the wrong way round', last, arrival)];
  });
};

/** D4: the numbers of what was received are 1, 2, 3 … */
export const findGapsInWebhooks: Judge = ({ arrivals }) => {
  const numbers = [...new Set(arrivals.map(({ sequence }) => sequence))].sort((a, b) => a - b);
  const wrong = numbers.find((number, index) => number !== index + 1);
  const its = arrivals.filter(({ sequence }) => sequence === wrong);
  return its.slice(0, 1).map((it) => offenceOf('gap')('the first number that is not the next', it));
};

/** D5: all attempts at a delivery have the same id, the same number and the same bytes. */
export const findChanges: Judge = ({ arrivals }) => {
  const changed = offenceOf('changed');
  const byId = Map.groupBy(arrivals, ({ webhookId }) => webhookId).values();
  const byNumber = Map.groupBy(arrivals, ({ mark, sequence }) => `${mark} ${sequence}`).values();
  return [
    ...[...byId]
      .filter((its) => new Set(its.map((it) => `${it.sequence} ${it.bodyHash}`)).size > 1)
      .map((its) => changed('the attempts under one id differ', ...its)),
    ...[...byNumber]
      .filter((its) => new Set(its.map(({ webhookId }) => webhookId)).size > 1)
      .map((its) => changed('one delivery has several ids', ...its)),
  ];
};

/** D5: both signatures verify. */
export const findForgeries: Judge = ({ arrivals }) =>
  arrivals
    .filter(({ signed }) => !signed)
    .map((arrival) => offenceOf('forged')('a signature does not verify', arrival));

/** D7: a webhook is of the kind that its decision has. */
export const findOtherWebhooks: Judge = ({ writes, arrivals }) => {
  const byMark = new Map(writes.map((write) => [write.mark, write]));
  return arrivals.flatMap((arrival) => {
    const write = byMark.get(arrival.mark);
    return write === undefined || write.webhook === arrival.path
      ? []
      : [offenceOf('divergent')('another webhook than the decision has', arrival, write)];
  });
};

/**
 * D6: what was received with success comes again only where a crash lay between, only while the success
 * was not recorded, and not more often than requests were under way. Of a whole history.
 */
export function findResent({ arrivals, recorded, crashes }: History): Offence[] {
  const resent = offenceOf('resent');
  const recordedMs = new Map<string, number>();
  for (const { webhookId, atMs } of recorded) {
    recordedMs.set(webhookId, Math.min(atMs, recordedMs.get(webhookId) ?? atMs));
  }
  const accepted = new Map<string, Arrival>();
  const excused = new Map<Crash, number>();
  return arrivals.flatMap((arrival) => {
    const first = accepted.get(arrival.webhookId);
    if (first === undefined) {
      if (isAccepted(arrival)) accepted.set(arrival.webhookId, arrival);
      return [];
    }
    const record = recordedMs.get(arrival.webhookId) ?? Number.POSITIVE_INFINITY;
    if (record < arrival.atMs) return [resent('its success was recorded', first, arrival)];
    const crash = crashes.find((it) => first.atMs <= it.untilMs && arrival.atMs >= it.fromMs);
    if (crash === undefined) return [resent('no crash lies between', first, arrival)];
    const count = (excused.get(crash) ?? 0) + 1;
    excused.set(crash, count);
    return count > crash.inFlight
      ? [resent(`more than the ${crash.inFlight} under way`, crash, first, arrival)]
      : [];
  });
}

/** What came first under each id, in the order in which it came. */
function firstArrivals(arrivals: Arrival[]): Arrival[] {
  const seen = new Set<string>();
  return arrivals.filter(({ webhookId }) => {
    const isFirst = !seen.has(webhookId);
    seen.add(webhookId);
    return isFirst;
  });
}

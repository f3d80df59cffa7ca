/** Callers that write at a rate of their own, whatever becomes of their requests, and read in between. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, type Api, decisionPath } from '../platform/api-client.ts';
import type { History, Read, Write } from './history/history.ts';
import { markOf } from './history/marker.ts';
import { oneOf } from './history/seeded-random.ts';

/** Who writes, and where at present. */
export interface Writer {
  api(): Api;
  creditorId: string;
  random: () => number;
}

export interface Load {
  perSecond: number;
  /** At least so long, and until this fires. */
  forMs: number;
  over: AbortSignal;
  /** The applications to decide on. */
  applications: string[];
  /** Writes have no idempotency key, so that none is asked for twice. */
  keyless?: boolean;
}

/** What can be written, and the webhook that tells of it. */
const DECISIONS = [
  ['BOOKED', '/application-booked'],
  ['APPROVED', '/application-approved'],
  ['CONDITIONALLY_APPROVED', '/application-conditionally-approved'],
  ['DECLINED', '/application-declined'],
  ['INCOMPLETE', '/documents-incomplete'],
  ['PENDING_BANK_CONNECTION', '/pending-banking'],
  ['WITHDRAWN', null],
  ['DRAFT', null],
] as const;
/** Cannot be written: there must be no trace of it. */
export const REFUSED = 'DRAFT';

/** So many reads for each write. */
const READS = 0.1;
const GIVE_UP_MS = 60_000;
const ANSWER_WITHIN_MS = 4_000;
const PAUSE_MS = 300;
const PAGE = 100;

/** Writes at the rate until it is over and every write has its answer; adds to the history. */
export async function load(
  writer: Writer,
  { perSecond, forMs, over, applications, keyless = false }: Load,
  { writes, reads }: History,
): Promise<void> {
  const startMs = performance.now();
  const underWay: Promise<void>[] = [];
  for (let begun = 0; ; await sleep(1)) {
    const elapsedMs = performance.now() - startMs;
    if (elapsedMs >= forMs && over.aborted) break;
    for (; begun < (elapsedMs * perSecond) / 1_000; begun += 1) {
      const applicationId = oneOf(writer.random, applications);
      const write = planWrite(applicationId, writer.random);
      writes.push(write);
      underWay.push(insist(writer, write, keyless));
      if (writer.random() < READS) {
        underWay.push(
          readHistory(writer, applicationId).then((read) => void (read && reads.push(read))),
        );
      }
    }
  }
  await Promise.all(underWay);
}

function planWrite(applicationId: string, random: () => number): Write {
  const [decision, webhook] = oneOf(random, DECISIONS);
  const unanswered = { startedMs: performance.now(), endedMs: 0, outcome: 'unknown' } as const;
  return {
    submission: applicationId,
    mark: randomUUID(),
    decision,
    webhook,
    ...unanswered,
    requests: 0,
  };
}

/** Asks with the same idempotency key, or once without, until it is known what became of the write. */
async function insist(writer: Writer, write: Write, keyless: boolean): Promise<void> {
  const { submission: applicationId, mark, decision } = write;
  const path = decisionPath({ applicationId, creditorId: writer.creditorId });
  const headers: Record<string, string> = keyless ? {} : { 'idempotency-key': mark };
  const body = { applicationId, decision, conditions: mark };
  while (performance.now() - write.startedMs < GIVE_UP_MS) {
    write.requests += 1;
    // Who cannot ask again waits for as long as it takes to be told.
    const signal = keyless ? AbortSignal.timeout(GIVE_UP_MS) : timeLimit();
    const answer = await answered(writer.api().post(path, body, { headers, signal }));
    write.endedMs = performance.now();
    if (answer?.status === 200) write.outcome = 'ok';
    else if (answer !== undefined && isRefusal(answer.status)) {
      write.outcome = 'fail';
      write.answer = `${answer.status} ${JSON.stringify(answer.body)}`;
    }
    if (write.outcome !== 'unknown' || keyless) return;
    await sleep(PAUSE_MS * (1 + writer.random()));
  }
}

/** All decisions of an application as the API shows them; undefined where it cannot. */
export async function readHistory(
  { api, creditorId }: Writer,
  applicationId: string,
): Promise<Read | undefined> {
  const startedMs = performance.now();
  const path = `${decisionPath({ applicationId, creditorId })}s?limit=${PAGE}`;
  const found = [];
  for (let cursor = ''; ; ) {
    const page = await answered(api().get(path + cursor, { signal: timeLimit() }));
    if (page?.status !== 200) return undefined;
    found.push(...page.body.data);
    if (!page.body.nextCursor) break;
    cursor = `&cursor=${encodeURIComponent(page.body.nextCursor)}`;
  }
  const versions = found.reverse().map(({ sequence, decision, conditions }) => {
    return { sequence, decision, mark: markOf(applicationId, conditions) };
  });
  return { submission: applicationId, startedMs, versions };
}

function timeLimit(): AbortSignal {
  return AbortSignal.timeout(ANSWER_WITHIN_MS);
}

/** A request without an answer may have done its work, or not: its caller cannot know. */
function answered(request: Promise<Answer>): Promise<Answer | undefined> {
  return request.catch(() => undefined);
}

/** A twin that is under way, and too many requests, are to be asked for again. */
function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 409 && status !== 429;
}

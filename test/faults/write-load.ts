/** Callers that record decisions at a fixed rate, however their requests end, and read in between. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { pickOne, type Random } from '@creditlane/runtime/test-seeded-random';
import { type Answer, type ApiClient, decisionPath } from '../platform/api-client.ts';
import type { FailedRead, History, Read, Write } from './history/history.ts';
import { markerOf } from './history/marker.ts';

/** Who records decisions. */
export interface Writer {
  /** A client of the platform at its current address. */
  api(): ApiClient;
  creditorId: string;
  random: Random;
  /** How long a request waits for its answer. */
  requestTimeoutMs: number;
}

export interface WriteLoad {
  perSecond: number;
  /** The least duration of the load. */
  loadMs: number;
  /** The load goes on until this is aborted. */
  stop: AbortSignal;
  /** The applications to record decisions on. */
  applications: string[];
  /** Sends no idempotency keys, so that no write is sent a second time. */
  withoutKeys?: boolean;
  /** How long a caller repeats a write before its outcome counts as unknown. */
  giveUpAfterMs: number;
  /** The longest pause before a write is repeated, without its random part. */
  maxPauseMs: number;
}

/** The decisions that callers record, with the webhook path of each. */
const DECISIONS = [
  { decision: 'BOOKED', webhookPath: '/application-booked' },
  { decision: 'APPROVED', webhookPath: '/application-approved' },
  { decision: 'CONDITIONALLY_APPROVED', webhookPath: '/application-conditionally-approved' },
  { decision: 'DECLINED', webhookPath: '/application-declined' },
  { decision: 'INCOMPLETE', webhookPath: '/documents-incomplete' },
  { decision: 'PENDING_BANK_CONNECTION', webhookPath: '/pending-banking' },
  { decision: 'WITHDRAWN', webhookPath: null },
  { decision: 'DRAFT', webhookPath: null },
];
/** The platform refuses this decision, so it must have no effect. */
export const REFUSED_DECISION = 'DRAFT';

/** How many reads there are per write. */
const READS_PER_WRITE = 0.1;
/**
 * The pause before a write's second request, doubled before each further one up to the longest. Each pause is longer at random, by
 * as much again at most.
 */
const FIRST_PAUSE_MS = 300;
const PAGE_SIZE = 100;

/** Records decisions until `stop` is aborted and every write has its outcome; adds to the history. */
export async function runWriteLoad(
  writer: Writer,
  { perSecond, loadMs, stop, applications, ...repeats }: WriteLoad,
  { writes, reads, failedReads }: Pick<History, 'writes' | 'reads' | 'failedReads'>,
): Promise<void> {
  const startMs = performance.now();
  const underWay: Promise<void>[] = [];
  for (let started = 0; ; await delay(1)) {
    const elapsedMs = performance.now() - startMs;
    if (elapsedMs >= loadMs && stop.aborted) break;
    for (; started < (elapsedMs * perSecond) / 1_000; started += 1) {
      const applicationId = pickOne(writer.random, applications);
      const write = makeWrite(applicationId, writer.random);
      writes.push(write);
      underWay.push(sendUntilAnswered(writer, write, repeats));
      if (writer.random() < READS_PER_WRITE) {
        const read = readDecisionsFromApi(writer, applicationId).then((it) => {
          if ('reason' in it) failedReads.push(it);
          else reads.push(it);
        });
        underWay.push(read);
      }
    }
  }
  await Promise.all(underWay);
}

function makeWrite(applicationId: string, random: Random): Write {
  return {
    submission: applicationId,
    marker: randomUUID(),
    ...pickOne(random, DECISIONS),
    startedMs: performance.now(),
    endedMs: 0,
    outcome: 'unknown',
    requests: 0,
  };
}

type Repeats = Pick<WriteLoad, 'withoutKeys' | 'giveUpAfterMs' | 'maxPauseMs'>;

/**
 * Sends a write, again and again with one idempotency key, until its outcome is known or `giveUpAfterMs` have passed; without
 * keys, sends it once.
 */
async function sendUntilAnswered(
  writer: Writer,
  write: Write,
  { withoutKeys = false, giveUpAfterMs, maxPauseMs }: Repeats,
): Promise<void> {
  const { submission: applicationId, marker, decision } = write;
  const path = decisionPath({ applicationId, creditorId: writer.creditorId });
  const headers: Record<string, string> = withoutKeys ? {} : { 'idempotency-key': marker };
  const body = { applicationId, decision, conditions: marker };
  while (performance.now() - write.startedMs < giveUpAfterMs) {
    write.requests += 1;
    // A request that cannot be repeated waits for its answer as long as possible.
    const signal = AbortSignal.timeout(withoutKeys ? giveUpAfterMs : writer.requestTimeoutMs);
    const answer = await answerOrError(writer.api().post(path, body, { headers, signal }));
    write.endedMs = performance.now();
    if (answer instanceof Error) write.refusal = reasonOf(answer);
    else if (answer.status === 200) write.outcome = 'ok';
    else {
      write.refusal = reasonOf(answer);
      if (isFinalRefusal(answer.status)) write.outcome = 'fail';
    }
    if (write.outcome !== 'unknown' || withoutKeys) return;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (write.requests - 1), maxPauseMs);
    await delay(pauseMs * (1 + writer.random()));
  }
}

/** All decisions of an application as the API returns them, or why a request for them failed. */
export async function readDecisionsFromApi(
  { api, creditorId, requestTimeoutMs }: Writer,
  applicationId: string,
): Promise<Read | FailedRead> {
  const startedMs = performance.now();
  const path = `${decisionPath({ applicationId, creditorId })}s?limit=${PAGE_SIZE}`;
  const newestFirst = [];
  for (let cursor = ''; ; ) {
    const signal = AbortSignal.timeout(requestTimeoutMs);
    const page = await answerOrError(api().get(path + cursor, { signal }));
    if (page instanceof Error || page.status !== 200)
      return { submission: applicationId, startedMs, reason: reasonOf(page) };
    newestFirst.push(...page.body.data);
    if (!page.body.nextCursor) break;
    cursor = `&cursor=${encodeURIComponent(page.body.nextCursor)}`;
  }
  const decisions = newestFirst.reverse().map(({ sequence, decision, conditions }) => {
    return { sequence, decision, marker: markerOf(applicationId, conditions) };
  });
  return { submission: applicationId, startedMs, decisions };
}

/** The error when the request got no answer; the request may still have had its effect. */
function answerOrError(request: Promise<Answer>): Promise<Answer | Error> {
  return request.catch((error: Error) => error);
}

/** Why a request failed: the status and the body of its answer, or the error without one. */
function reasonOf(answer: Answer | Error): string {
  if (answer instanceof Error) return `no answer: ${answer.cause ?? answer}`;
  return `${answer.status} ${JSON.stringify(answer.body)}`;
}

/** 409 (a duplicate request is under way) and 429 (too many requests) are to be repeated. */
function isFinalRefusal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 409 && status !== 429;
}

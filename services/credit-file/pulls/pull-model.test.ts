// A model of the states of an applicant's pulls, compared with the statements of two owners: requests, leases that
// end, inquiries that are sent, never sent or lost, and late answers.

import { randomUUID } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { runQuery } from '@creditlane/postgres/statement';
import { GetInquirySubjectResponseSchema } from '@creditlane/proto/applications/v1/consents_service';
import type { PullState } from '@creditlane/proto/creditfile/v1/credit_file_service';
import { newId } from '@creditlane/runtime/ids';
import { silentLog } from '@creditlane/runtime/test-log';
import {
  type Model,
  oneOrMore,
  runAgainstModel,
  type System,
} from '@creditlane/runtime/test-model-run';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openCustodyDatabase, RING } from '../custody/test-custody.ts';
import { insertCreditFile } from '../store/credit-files.ts';
import {
  endLostPulls,
  endPull,
  markSent,
  type OwnedPull,
  postponePull,
  takeDuePullsQuery,
} from '../store/pull-states.ts';
import { aSubject } from '../test-applications.ts';
import { requestCreditFile } from './request-credit-file.ts';

const OWNERS = ['a', 'b'] as const;
type Owner = (typeof OWNERS)[number];

type Request =
  | { do: 'request'; callerRequestId: string; force: boolean }
  | { do: 'leases end' | 'lost ones end' | 'owners die' }
  | { do: 'take'; owner: Owner }
  | { do: Act; owner: Owner };

/** What an owner does with the pull that it holds. */
type Act = 'send' | 'never sent' | 'answer' | 'lose';

interface ModelPull {
  /** Of the requests that got the pull. */
  callerRequestIds: readonly string[];
  state: keyof typeof PullState;
  isSent: boolean;
  fence: number;
  isLeased: boolean;
}

/** What an owner knows: the pull that it took, and whether it sent the inquiry. */
interface Hold {
  pull: number;
  fence: number;
  hasSent: boolean;
}

interface State {
  pulls: readonly ModelPull[];
  holds: Readonly<Partial<Record<Owner, Hold>>>;
}

const isOpen = ({ state }: ModelPull) => state === 'REQUESTED' || state === 'RUNNING';

const model: Model<State, Request> = {
  start: { pulls: [], holds: {} },
  apply(state, request) {
    if (request.do === 'request') return applyRequest(state, request);
    if (!('owner' in request)) return applyTime(state, request.do);
    return request.do === 'take' ? applyTake(state, request.owner) : applyHeld(state, request);
  },
  shown: ({ pulls }) => pulls.map(({ state, isSent }) => [state, isSent]),
};

function applyTime(
  state: State,
  what: 'leases end' | 'lost ones end' | 'owners die',
): { outcome: string; state: State } {
  if (what !== 'lost ones end') {
    const ended = { ...state, pulls: state.pulls.map((pull) => ({ ...pull, isLeased: false })) };
    if (what === 'leases end') return { outcome: 'ended', state: ended };
    return applyTime({ ...ended, holds: {} }, 'lost ones end');
  }
  const isLost = (it: ModelPull) => it.state === 'RUNNING' && it.isSent && !it.isLeased;
  const pulls = state.pulls.map((it) => (isLost(it) ? { ...it, state: 'UNKNOWN' as const } : it));
  return { outcome: `lost ${state.pulls.filter(isLost).length}`, state: { ...state, pulls } };
}

function applyRequest(
  state: State,
  { callerRequestId, force }: { callerRequestId: string; force: boolean },
): { outcome: string; state: State } {
  const { pulls } = state;
  const same = pulls.findIndex((it) => it.callerRequestIds.includes(callerRequestId));
  const callerRequestIds = callerRequestId === '' ? [] : [callerRequestId];
  const open = pulls.findIndex(isOpen);
  const complete = force ? -1 : pulls.findLastIndex((it) => it.state === 'COMPLETE');
  const found = [same, open, complete].find((index) => index >= 0);
  const pull = pulls[found ?? pulls.length];
  if (found !== undefined && pull !== undefined) {
    const joined = { ...pull, callerRequestIds: [...pull.callerRequestIds, ...callerRequestIds] };
    return { outcome: `pull ${found}`, state: { ...state, pulls: pulls.with(found, joined) } };
  }
  const added: ModelPull = {
    callerRequestIds,
    state: 'REQUESTED',
    isSent: false,
    fence: 0,
    isLeased: false,
  };
  return { outcome: `pull ${pulls.length}`, state: { ...state, pulls: [...pulls, added] } };
}

function applyTake(state: State, owner: Owner): { outcome: string; state: State } {
  const index = state.pulls.findIndex(
    (it) => it.state === 'REQUESTED' || (it.state === 'RUNNING' && !it.isSent && !it.isLeased),
  );
  const pull = state.pulls[index];
  if (pull === undefined) return { outcome: 'nothing', state };
  const fence = pull.fence + 1;
  const taken = { ...pull, state: 'RUNNING' as const, fence, isLeased: true };
  const holds = { ...state.holds, [owner]: { pull: index, fence, hasSent: false } };
  return { outcome: `took ${index}`, state: { pulls: state.pulls.with(index, taken), holds } };
}

function applyHeld(
  { pulls, holds }: State,
  { do: act, owner }: { do: Act; owner: Owner },
): { outcome: string; state: State } {
  const hold = holds[owner];
  const pull = hold && pulls[hold.pull];
  if (!hold || !pull || hold.hasSent === (act === 'send')) {
    return { outcome: 'idle', state: { pulls, holds } };
  }
  const owns = pull.fence === hold.fence;
  const isRunning = owns && pull.state === 'RUNNING';
  const left = (change: Partial<ModelPull>, kept?: Hold) => ({
    pulls: pulls.with(hold.pull, { ...pull, ...change }),
    holds: { ...holds, [owner]: kept },
  });
  if (act === 'send') {
    if (!isRunning || pull.isSent || !pull.isLeased) return { outcome: 'refused', state: left({}) };
    return { outcome: 'sent', state: left({ isSent: true }, { ...hold, hasSent: true }) };
  }
  if (act === 'never sent') {
    const change = { state: 'REQUESTED', isSent: false, isLeased: false } as const;
    return { outcome: isRunning ? 'postponed' : 'refused', state: left(isRunning ? change : {}) };
  }
  const isPermitted = isRunning || (owns && act === 'answer' && pull.state === 'UNKNOWN');
  const change = { state: act === 'answer' ? 'COMPLETE' : 'UNKNOWN' } as const;
  return { outcome: isPermitted ? 'ended' : 'refused', state: left(isPermitted ? change : {}) };
}

let database: Awaited<ReturnType<typeof openCustodyDatabase>>;
beforeAll(async () => {
  database = await openCustodyDatabase();
});
afterAll(() => database?.close());

const LEASE_MS = 3_600_000;
const CONSENT = {
  ...{
    consentId: randomUUID(),
    purpose: 'p',
    textVersion: 't',
    documentSha256: '',
    capturedBy: '',
  },
};

/** The pulls of a new applicant; those of the applicant before are ended, so that nobody takes them. */
async function start(): Promise<System<Request>> {
  const { pool, requests } = database;
  await pool.query('UPDATE pulls SET finished_at = now() WHERE finished_at IS NULL');
  const [applicationId, applicantId, retailerId] = [randomUUID(), randomUUID(), randomUUID()];
  const subject = create(GetInquirySubjectResponseSchema, aSubject(retailerId, applicantId));
  await pool.query(`INSERT INTO bureau_credentials VALUES ($1, 'EQUIFAX', '\\x00', 'k1', now())`, [
    retailerId,
  ]);
  const held = new Map<Owner, { pull: OwnedPull; hasSent: boolean }>();
  const received = new Map<string, number>();
  const indexOf = async (id: string) => {
    const { rows } = await pool.query('SELECT seq FROM pulls WHERE id = $1', [id]);
    return rows[0].seq - 1;
  };
  const deps = {
    ...{ requests, keyRing: RING, newId, minAgeMs: LEASE_MS, onRequested: () => undefined },
    requireConfigured: () => undefined,
    recordsRetailerContext: true,
    ...{ maxForcedPulls: 1_000, documentLinkKeys: () => [Buffer.alloc(32)] as const },
    consents: { getInquirySubject: async () => subject } as never,
    clock: () => new Date(),
    log: silentLog,
  };
  const identity = {
    kind: 'integration',
    subject: 'i',
    permissions: ['FORCE_PULL'],
    retailerId,
  } as const;
  const call = { identity, signal: new AbortController().signal, deadlineMs: Infinity } as const;
  const applicantCall = {
    applicant: { applicationId, applicantId },
    retailerId,
    call: { ...call, requestId: 'x', markReplayed: () => undefined },
  };

  /** The bureau gets the inquiry: for one pull at most once. */
  const receive = ({ id }: OwnedPull) => {
    received.set(id, (received.get(id) ?? 0) + 1);
    if (received.get(id) !== 1) throw new Error('the bureau got a second inquiry of one pull');
  };

  async function sendHeld(act: Act, owner: Owner): Promise<string> {
    const hold = held.get(owner);
    if (hold === undefined || hold.hasSent === (act === 'send')) return 'idle';
    const { pull } = hold;
    held.delete(owner);
    if (act === 'send') {
      if (!(await markSent(pool, pull, CONSENT, LEASE_MS))) return 'refused';
      held.set(owner, { pull, hasSent: true });
      return 'sent';
    }
    if (act === 'never sent') {
      const isOwn = await postponePull(pool, pull, { delayMs: 0, countsAsAttempt: true });
      return isOwn ? 'postponed' : 'refused';
    }
    receive(pull);
    const state = act === 'answer' ? 'COMPLETE' : 'UNKNOWN';
    const ended = await endPull(pool, pull, { state, wasSent: true });
    if (ended === undefined) return 'refused';
    if (act === 'answer') {
      const { id: pullId, source } = pull;
      const file = { hitType: 'HIT', requestedDate: '2026-01-01', sealed: Buffer.of(0) };
      await insertCreditFile(pool, {
        id: newId(),
        pullId,
        retailerId,
        applicantId,
        source,
        ...file,
      });
    }
    return 'ended';
  }

  return {
    async send(request) {
      switch (request.do) {
        case 'request': {
          const given = { source: 'EQUIFAX', ...request } as const;
          const { pull } = await requestCreditFile(deps, applicantCall, given);
          return `pull ${await indexOf(pull?.id ?? '')}`;
        }
        case 'leases end':
        case 'owners die':
          await pool.query(
            `UPDATE pulls SET due_at = now() - interval '1 s' WHERE state = 'RUNNING'`,
          );
          if (request.do === 'leases end') return 'ended';
          held.clear();
          return `lost ${(await endLostPulls(pool, retailerId, [])).length}`;
        case 'lost ones end':
          return `lost ${(await endLostPulls(pool, retailerId, [])).length}`;
        case 'take': {
          const [pull] = await runQuery(
            pool,
            takeDuePullsQuery({ limit: 1, share: 1, leaseMs: LEASE_MS }),
          );
          if (pull === undefined) return 'nothing';
          held.set(request.owner, { pull, hasSent: false });
          return `took ${await indexOf(pull.id)}`;
        }
        default:
          return sendHeld(request.do, request.owner);
      }
    },
    async read() {
      const { rows } = await pool.query(
        'SELECT state, sent_at IS NOT NULL AS sent FROM pulls WHERE applicant_id = $1 ORDER BY seq',
        [applicantId],
      );
      return rows.map(({ state, sent }) => [state, sent]);
    },
    // The owners are processes that die and forget what they hold.
    restart: async () => undefined,
  };
}

const owner = fc.constantFrom(...OWNERS);
const request = fc.record({
  do: fc.constant('request' as const),
  callerRequestId: fc.constantFrom('', '', 'r1', 'r2'),
  // Without force, a complete pull answers every later request.
  force: fc.constantFrom(true, true, false),
});
const take = fc.record({ do: fc.constant('take' as const), owner });
const single: fc.Arbitrary<Request> = fc.oneof(
  { weight: 2, arbitrary: request },
  { weight: 3, arbitrary: take },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('send' as const), owner }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('never sent' as const, 'answer' as const, 'lose' as const),
      owner,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('leases end' as const, 'lost ones end' as const, 'owners die' as const),
    }),
  },
);

test('pulls of two owners have the states of the model, and no bureau gets an inquiry twice', async () => {
  const outcomes = await runAgainstModel(model, start, {
    requests: oneOrMore<Request>(single, request),
    runs: 8,
    seed: 20_261_122,
    maxCommands: 60,
  });
  const reached = ['sent', 'refused', 'postponed', 'ended', 'lost 1', 'took 1', 'pull 1'];
  expect([...outcomes]).toEqual(expect.arrayContaining(reached));
}, 60_000);

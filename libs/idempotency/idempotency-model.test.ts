// A model of idempotency keys, compared with both ways of storing an answer: duplicate requests one by one and
// at once, writes that fail or lose their connection, expiry, the purge, and new connections.
import { runPurge } from '@creditlane/postgres/retention';
import { type OpenTestDatabase, openTestDatabase } from '@creditlane/postgres/test-open-database';
import { inTransaction } from '@creditlane/postgres/transaction';
import type { CallIdempotency } from '@creditlane/rpc/call';
import { Fault } from '@creditlane/rpc/fault';
import {
  type Model,
  oneOrMore,
  runAgainstModel,
  type System,
} from '@creditlane/runtime/test-model-run';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  answerOnce,
  createIdempotencySql,
  hasNoStoredAnswerSql,
  insertStoredAnswerSql,
  type Outcome,
  purgeIdempotency,
  storeAnswer,
  writeFirst,
} from './stored-answers.ts';

interface WriteRequest {
  caller: string;
  operation: string;
  key: string | undefined;
  body: string;
  /** `crash`: the connection breaks before the commit. */
  ends: 'commit' | 'rollback' | 'crash';
}

type Request = WriteRequest | { time: 'thirteen hours' | 'purge' };

interface State {
  /** Callers with operation, key and body, sorted: one for each write that took effect. */
  effects: readonly string[];
  /** By caller, operation and key. */
  answers: Readonly<Record<string, { body: string; ageHours: number }>>;
}

const HOURS_KEPT = 24;

const model: Model<State, Request> = {
  start: { effects: [], answers: {} },

  apply(state, request) {
    if ('time' in request) {
      const aged = Object.entries(state.answers).map(([keyed, answer]) => {
        const hours = request.time === 'purge' ? 0 : 13;
        return [keyed, { ...answer, ageHours: answer.ageHours + hours }] as const;
      });
      return { outcome: request.time, state: { ...state, answers: Object.fromEntries(aged) } };
    }
    const { key, body, ends } = request;
    const keyed = keyedName(request);
    const answer = key === undefined ? undefined : state.answers[keyed];
    if (answer !== undefined && answer.ageHours < HOURS_KEPT) {
      const outcome = answer.body === body ? `repeats ${keyed} ${body}` : 'idempotency_key_reused';
      return { outcome, state };
    }
    if (ends !== 'commit') return { outcome: 'failed', state };
    const effects = [...state.effects, `${keyed} ${body}`].toSorted();
    const answers =
      key === undefined ? state.answers : { ...state.answers, [keyed]: { body, ageHours: 0 } };
    return { outcome: 'written', state: { effects, answers } };
  },

  shown: ({ effects }) => effects,
};

function keyedName({ caller, operation, key }: Omit<WriteRequest, 'body' | 'ends'>): string {
  return `${caller} ${operation} ${key ?? '-'}`;
}

let database: OpenTestDatabase;
/** The connections of the writes, which a restart replaces. */
let pool: pg.Pool;
beforeAll(async () => {
  database = await openTestDatabase('idempotency_model', [
    ...createIdempotencySql,
    'CREATE TABLE effects (id bigserial PRIMARY KEY, keyed text NOT NULL, body text NOT NULL)',
  ]);
});
afterAll(async () => {
  await pool?.end();
  await database.close();
});

async function connect(): Promise<void> {
  await pool?.end();
  pool = new pg.Pool({ connectionString: database.url, max: 4 });
  // The pool reports a connection that a write has ended to the write, too.
  pool.on('error', () => undefined);
}

/** Writes once per key. The answer is the id of the effect. */
type WriteOnce = (
  request: WriteRequest,
  idempotency: CallIdempotency | undefined,
) => Promise<Outcome<string> | undefined>;

/** The effect and the stored answer are two statements of one transaction. */
const inTwoStatements: WriteOnce = (request, idempotency) =>
  answerOnce(pool, idempotency, () =>
    inTransaction(pool, async (tx) => {
      const { rows } = await tx.query<{ id: string }>(
        'INSERT INTO effects (keyed, body) VALUES ($1, $2) RETURNING id',
        [keyedName(request), request.body],
      );
      const [{ id = '' } = {}] = rows;
      if (idempotency) await storeAnswer(tx, idempotency, Buffer.from(id));
      if (request.ends === 'rollback') throw new Error('rolled back');
      if (request.ends === 'crash') await tx.query('SELECT pg_terminate_backend(pg_backend_pid())');
      return id;
    }),
  );

/** One statement checks the key, has the effect and stores the answer. */
const inOneStatement: WriteOnce = (request, idempotency) =>
  writeFirst(pool, idempotency, async () => {
    const { caller, operation, key, body, ends } = request;
    const { rows } = await pool.query<{ id: string }>(
      `WITH effect AS (
         INSERT INTO effects (keyed, body)
         SELECT $1, $2 WHERE ${hasNoStoredAnswerSql('$3::text', '$4::text', '$5::text')}
         RETURNING id
       ), stored AS (
         ${insertStoredAnswerSql}
         SELECT $3::text, $4::text, $5::text, $6::bytea, convert_to(id::text, 'utf8')
         FROM effect WHERE $5::text IS NOT NULL
       )
       SELECT id, CASE WHEN $7 = 'rollback' THEN 1 / (id - id) END AS rolled_back,
         CASE WHEN $7 = 'crash' THEN pg_terminate_backend(pg_backend_pid()) END AS crashed
       FROM effect`,
      [
        ...[keyedName(request), body, caller, operation, key ?? null],
        ...[idempotency?.requestDigest ?? null, ends],
      ],
    );
    return rows[0]?.id;
  });

async function startWith(write: WriteOnce): Promise<System<Request>> {
  await connect();
  await pool.query('TRUNCATE effects, idempotency');

  const send = async (request: WriteRequest): Promise<string> => {
    const { caller: callerId, operation, key, body } = request;
    const idempotency = key === undefined ? undefined : { callerId, operation, key };
    const requestDigest = Buffer.from(body);
    try {
      const outcome = await write(request, idempotency && { ...idempotency, requestDigest });
      if (outcome?.replayed === false) return 'written';
      return `repeats ${await latestEffect(String(outcome?.answer))}`;
    } catch (error) {
      return error instanceof Fault ? error.code : 'failed';
    }
  };

  /** The effect with this id, if it is the latest one of its key. */
  const latestEffect = async (id: string): Promise<string> => {
    const { rows } = await pool.query<{ text: string }>(
      `SELECT keyed || ' ' || body AS text FROM effects AS effect WHERE id = $1
         AND NOT EXISTS (SELECT FROM effects WHERE keyed = effect.keyed AND id > effect.id)`,
      [id],
    );
    return rows[0]?.text ?? 'an answer of no effect';
  };

  return {
    async send(request) {
      if (!('time' in request)) return send(request);
      if (request.time === 'purge') await runPurge(pool, purgeIdempotency);
      else await pool.query(`UPDATE idempotency SET created_at = created_at - interval '13 hours'`);
      return request.time;
    },
    async read() {
      const { rows } = await pool.query<{ text: string }>(
        `SELECT keyed || ' ' || body AS text FROM effects`,
      );
      return rows.map(({ text }) => text).toSorted();
    },
    restart: connect,
  };
}

const writes: fc.Arbitrary<Request> = fc.record({
  caller: fc.constantFrom('one', 'one', 'one', 'two'),
  operation: fc.constantFrom('record', 'record', 'submit'),
  key: fc.constantFrom(undefined, 'k1', 'k1', 'k1', 'k2'),
  body: fc.constantFrom('x', 'x', 'x', 'y'),
  ends: fc.constantFrom('commit', 'commit', 'commit', 'rollback', 'crash'),
});
const times: fc.Arbitrary<Request> = fc.record({
  time: fc.constantFrom('thirteen hours', 'thirteen hours', 'purge'),
});

test.each([
  ['two statements', inTwoStatements],
  ['one statement', inOneStatement],
])(
  'requests with keys have effects and answers as in their model, with a write in %s',
  async (_, write) => {
    const outcomes = await runAgainstModel(model, () => startWith(write), {
      requests: oneOrMore(
        fc.oneof({ weight: 2, arbitrary: writes }, { weight: 1, arbitrary: times }),
        writes,
      ),
      runs: 12,
      seed: 20_260_403,
      maxCommands: 30,
    });
    for (const outcome of [
      'written',
      'failed',
      'idempotency_key_reused',
      'repeats one record k1 x',
    ]) {
      expect(outcomes).toContain(outcome);
    }
  },
  60_000,
);

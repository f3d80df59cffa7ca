import { randomUUID } from 'node:crypto';
import { type EventMessage, toMessage } from '@creditlane/events/message';
import { runPurge } from '@creditlane/postgres/retention';
import { defineStatement } from '@creditlane/postgres/statement';
import type { OpenTestDatabase } from '@creditlane/postgres/test-open-database';
import type { PeriodicTask } from '@creditlane/runtime/concurrency/periodic-task';
import { silentLog } from '@creditlane/runtime/test-log';
import type { CommandOptions } from '@creditlane/service/service-command';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { openMessagingTestDatabase } from '../test-messaging-database.ts';
import { decisionEvent } from '../test-relay.ts';
import { createInboxHandler } from '../transactional-inbox.ts';
import { DEAD_LETTER_COMMANDS } from './commands.ts';
import { purgeDeadLetters } from './dead-letters.ts';
import { startRedriveWorker } from './redrive-worker.ts';
import { takeRedrives } from './redrives.ts';

let db: OpenTestDatabase;
let handle: (batch: EventMessage[]) => Promise<void>;
/** Why no event can be handled; undefined when every event can. */
let problem: string | undefined;
let worker: PeriodicTask | undefined;

const insertEffect = defineStatement('redrive_effect', 'INSERT INTO effects (key) VALUES ($1)');

beforeAll(async () => {
  db = await openMessagingTestDatabase('redrives');
  await db.pool.query('CREATE TABLE effects (key text)');
  const { pool, metrics } = db;
  handle = createInboxHandler({
    ...{ consumer: 'test', pool, metrics, log: silentLog },
    planWrites(events) {
      if (problem) throw Object.assign(new Error(problem), { loggable: true });
      return { writes: events.map(({ key }) => insertEffect.query([key])), result: undefined };
    },
  });
});
beforeEach(async () => {
  await db.pool.query('TRUNCATE effects, inbox, dead_letters, dead_letter_redrives');
});
afterEach(() => worker?.close());
afterAll(() => db.close());

function message(conditions: string): EventMessage {
  const event = decisionEvent(randomUUID(), 3);
  const decision = { decision: 'DECISION_VALUE_APPROVED', conditions, paymentAmount: 412.5 };
  const payload = { ...event.payload, decision };
  return toMessage({ ...event, payload, id: randomUUID(), time: new Date() }, 'decisions');
}

/** Handles a message that fails for this reason, and returns the number of its dead letter. */
async function storeDeadLetter(reason: string, sent = message('')): Promise<number> {
  problem = reason;
  await handle([sent]);
  const { rows } = await db.pool.query<{ id: number }>('SELECT max(id) AS id FROM dead_letters');
  return rows[0]?.id ?? expect.unreachable();
}

async function runCommand(name: string, options: CommandOptions = {}) {
  const lines: object[] = [];
  const print = (line: object) => void lines.push(JSON.parse(JSON.stringify(line)));
  const command = DEAD_LETTER_COMMANDS[name] ?? expect.unreachable();
  const isDone = await command.run({ settings: {}, database: db, log: silentLog, print }, options);
  return { isDone, lines };
}

const look = async (id: number) => {
  const { lines } = await runCommand('dead-letter', { id: String(id) });
  return lines[0] as { handledAt: string | null; reason: string; redrives: { outcome: string }[] };
};

function startWorker(handleAgain = handle): void {
  const { pool, metrics } = db;
  worker = startRedriveWorker({
    ...{ consumer: 'test', pool, metrics, handle: handleAgain, log: silentLog },
    pollMs: 10,
  });
}

test('a dead letter that is redriven takes effect once, and the record says who asked for it', async () => {
  const id = await storeDeadLetter('the version before cannot handle it');
  expect((await runCommand('dead-letters')).lines).toMatchObject([
    { id, consumer: 'test', reason: expect.stringContaining('the version before'), redrives: 0 },
    { listed: 1 },
  ]);

  problem = undefined;
  const asked = { id: String(id), by: 'ana' };
  expect((await runCommand('redrive-dead-letters', asked)).lines).toEqual([
    { id, requested: true },
    { requested: 1 },
  ]);
  // A second request before the consumer has taken the first is none.
  expect(await runCommand('redrive-dead-letters', asked)).toMatchObject({ isDone: false });
  startWorker();
  await expect
    .poll(() => look(id))
    .toMatchObject({
      handledAt: expect.any(String),
      redrives: [{ requestedBy: 'ana', outcome: 'handled', reason: null }],
    });
  expect((await db.pool.query('SELECT FROM effects')).rowCount).toBe(1);
  expect((await runCommand('dead-letters')).lines).toEqual([{ listed: 0 }]);
  expect((await runCommand('dead-letters', { handled: true })).lines).toHaveLength(2);
  // What is handled is not handled again.
  expect(await runCommand('redrive-dead-letters', asked)).toMatchObject({ isDone: false });
});

test('a dead letter counts until it is handled, and one without an id, which never is, does not', async () => {
  const left = async () => /^creditlane_dead_letters.*$/m.exec(await db.metrics.text())?.[0];
  startWorker();
  expect(await left()).toBe('creditlane_dead_letters{consumer="test"} 0');
  const sent = message('');
  await storeDeadLetter('a reason', { ...sent, headers: {} });
  await storeDeadLetter('a reason', sent);
  await db.pool.query(
    `INSERT INTO dead_letters (consumer, topic, key, headers, value, reason)
     SELECT 'another', topic, key, headers, value, reason FROM dead_letters`,
  );
  expect(await left()).toBe('creditlane_dead_letters{consumer="test"} 1');
  await db.pool.query('UPDATE dead_letters SET handled_at = now()');
  expect(await left()).toBe('creditlane_dead_letters{consumer="test"} 0');
});

test('a dead letter is deleted 30 days after it was handled, and one that is not handled never', async () => {
  await storeDeadLetter('left');
  for (const days of [29, 31]) {
    const id = await storeDeadLetter(`handled ${days} days ago`);
    await db.pool.query(
      `UPDATE dead_letters SET handled_at = now() - $2 * interval '1 day' WHERE id = $1`,
      [id, days],
    );
  }
  expect(await runPurge(db.pool, purgeDeadLetters)).toBe(1);
  const { rows } = await db.pool.query('SELECT reason FROM dead_letters ORDER BY id');
  expect(rows.map(({ reason }) => reason)).toEqual([
    expect.stringContaining('left'),
    expect.stringContaining('handled 29 days ago'),
  ]);
});

test('a redrive that fails is recorded with the reason, and may be requested again', async () => {
  const id = await storeDeadLetter('first reason');
  problem = 'second reason';
  startWorker();
  for (const attempts of [1, 2]) {
    await runCommand('redrive-dead-letters', { all: true, by: 'ana' });
    await expect
      .poll(async () => (await look(id)).redrives.map(({ outcome }) => outcome))
      .toEqual(Array(attempts).fill('failed'));
  }
  expect(await look(id)).toMatchObject({
    handledAt: null,
    reason: expect.stringContaining('second reason'),
    redrives: [{}, { reason: expect.stringContaining('second reason') }],
  });
});

test('a redrive that cannot be handled delays those of its key, and no others', async () => {
  const [failing, other] = [message(''), message('')];
  const failingId = await storeDeadLetter('a reason', failing);
  const next = { ...message(''), key: failing.key };
  const [nextId, otherId] = [
    await storeDeadLetter('a reason', next),
    await storeDeadLetter('a reason', other),
  ];
  await runCommand('redrive-dead-letters', { all: true, by: 'ana' });
  problem = undefined;
  const handled: string[] = [];
  startWorker(async (batch) => {
    handled.push(...batch.map(({ key }) => key));
    if (batch.some(({ key }) => key === failing.key)) throw new Error('a peer is away');
    await handle(batch);
  });
  await expect.poll(() => look(otherId)).toMatchObject({ redrives: [{ outcome: 'handled' }] });
  expect(handled).toEqual([failing.key, other.key]);
  for (const id of [failingId, nextId]) {
    expect(await look(id)).toMatchObject({ redrives: [{ outcome: null }] });
  }
});

test('while an earlier redrive of its key is being handled, or cannot be, none is handled, by whichever process', async () => {
  const key = randomUUID();
  const sent = Array.from({ length: 55 }, (_, n) => ({ ...message(String(n)), key }));
  for (const letter of sent) await storeDeadLetter('no such column', letter);
  await runCommand('redrive-dead-letters', { all: true, by: 'ana' });
  problem = undefined;
  const handled: number[] = [];
  let failures = 0;
  const handleAgain = async (batch: EventMessage[]) => {
    if (handled.length === 0 && failures === 0) {
      failures += 1;
      throw new Error('a peer is away');
    }
    const ids = sent.map(({ headers }) => headers.ce_id);
    handled.push(...batch.map(({ headers }) => ids.indexOf(headers.ce_id)));
    await handle(batch);
  };
  const takenAgo = (interval: string) =>
    db.pool.query(
      'UPDATE dead_letter_redrives SET taken_at = now() - $1::interval WHERE finished_at IS NULL AND taken_at IS NOT NULL',
      [interval],
    );
  startWorker(handleAgain);
  await expect.poll(() => failures).toBe(1);
  // The last five are free, and the first fifty count as being handled for a minute.
  expect(await takeRedrives(db.pool, 'test', 50)).toEqual([]);
  await takenAgo('2 minutes');
  await expect.poll(() => handled.length).toBe(55);
  expect(handled).toEqual(sent.map((_, n) => n));
});

test('more dead letters than a statement takes are requested together, each once', async () => {
  const first = await storeDeadLetter('a reason');
  await runCommand('redrive-dead-letters', { id: String(first), by: 'ana' });
  await db.pool.query(
    `INSERT INTO dead_letters (consumer, topic, key, headers, value, reason)
     SELECT 'test', topic, key, jsonb_build_object('ce_id', gen_random_uuid()), value, reason
     FROM dead_letters, generate_series(1, 2200)`,
  );
  const { lines } = await runCommand('redrive-dead-letters', { all: true, by: 'ana' });
  expect(lines.at(-1)).toEqual({ requested: 2_200 });
  const { rows } = await db.pool.query(
    'SELECT count(*) AS redrives, count(DISTINCT dead_letter_id) AS letters FROM dead_letter_redrives',
  );
  expect(rows).toEqual([{ redrives: 2_201, letters: 2_201 }]);
});

test('a redrive taken before the clock of the database was set back by an hour is taken over', async () => {
  const id = await storeDeadLetter('the process dies');
  await runCommand('redrive-dead-letters', { id: String(id), by: 'me' });
  expect(await takeRedrives(db.pool, 'test', 10)).toHaveLength(1);
  expect(await takeRedrives(db.pool, 'test', 10)).toHaveLength(0);
  await db.pool.query(`UPDATE dead_letter_redrives SET taken_at = taken_at + interval '1 hour'`);
  expect(await takeRedrives(db.pool, 'test', 10)).toHaveLength(1);
});

test('a redrive whose process died is taken over, and an event that was handled meanwhile has no second effect', async () => {
  const sent = message('');
  const id = await storeDeadLetter('a reason', sent);
  await runCommand('redrive-dead-letters', { id: String(id), by: 'ana' });
  problem = undefined;
  // A process that took the request handled the event, and died before it recorded that.
  await db.pool.query(`UPDATE dead_letter_redrives SET taken_at = now() - interval '2 minutes'`);
  await handle([sent]);
  startWorker();
  await expect.poll(() => look(id)).toMatchObject({ redrives: [{ outcome: 'handled' }] });
  expect((await db.pool.query('SELECT FROM effects')).rowCount).toBe(1);
});

test('a look at a dead letter shows the ids, names and numbers of its event, and no other text', async () => {
  const sent = message('Call Tremblay at 514 555 0123');
  const id = await storeDeadLetter('a reason', sent);
  const seen = await look(id);
  expect(seen).toMatchObject({
    type: 'creditlane.decisions.v1.DecisionRecorded',
    eventId: sent.headers.ce_id,
    event: {
      applicationId: sent.key,
      sequence: '3',
      decision: {
        decision: 'DECISION_VALUE_APPROVED',
        conditions: '<29 characters>',
        paymentAmount: 412.5,
      },
    },
  });
  expect(JSON.stringify(seen)).not.toContain('Tremblay');
});

test('bytes that are no event are shown by their number, and a message without an id is not redriven', async () => {
  const { headers, ...sent } = message('');
  const bytes = Buffer.from('Tremblay, 046 454 286');
  const { ce_id: _, ...withoutId } = headers;
  const id = await storeDeadLetter('a reason', { ...sent, headers: withoutId, value: bytes });
  const seen = await look(id);
  expect(seen).toMatchObject({ bytes: bytes.byteLength, event: null });
  expect(JSON.stringify(seen)).not.toContain('Tremblay');
  expect(await runCommand('redrive-dead-letters', { id: String(id), by: 'ana' })).toEqual({
    isDone: false,
    lines: [{ id, requested: false, problem: expect.stringContaining('no id') }, { requested: 0 }],
  });
});

test('a redrive without a choice of dead letters or without a name is refused', async () => {
  for (const options of [{ by: 'ana' }, { id: '1', all: true, by: 'ana' }, { all: true }]) {
    await expect(runCommand('redrive-dead-letters', options)).rejects.toThrow('must be given');
  }
});

test.each(['', ' ', '1e0', '-1', '1.5', '9007199254740993'])(
  'the text %j, which is no number of a dead letter, is refused',
  async (text) => {
    const problem = 'must be given, as the number of a dead letter';
    await expect(runCommand('dead-letter', { id: text })).rejects.toThrow(`--id ${problem}`);
    await expect(runCommand('dead-letters', { after: text })).rejects.toThrow(`--after ${problem}`);
  },
);

test('a dead letter that is given up counts no more, and the record says who did it and why', async () => {
  const id = await storeDeadLetter('no such event type');
  const options = { id: String(id), by: 'ana', reason: 'a test of another team' };
  const discarded = await runCommand('discard-dead-letter', options);
  expect(discarded).toEqual({ isDone: true, lines: [{ id, discarded: true }] });
  expect(await db.metrics.text()).toContain('creditlane_dead_letters{consumer="test"} 0');
  expect(await look(id)).toMatchObject({
    handledAt: expect.any(String),
    redrives: [
      { requestedBy: 'ana', outcome: 'failed', reason: 'discarded: a test of another team' },
    ],
  });
  problem = undefined;
  const problemText = expect.stringMatching(/^no dead letter has this number, or it is handled, /);
  const refused = { isDone: false, lines: [{ id, discarded: false, problem: problemText }] };
  expect(await runCommand('discard-dead-letter', options)).toEqual(refused);
  const redriven = await runCommand('redrive-dead-letters', { id: String(id), by: 'ana' });
  expect(redriven).toEqual({
    isDone: false,
    lines: [{ id, requested: false, problem: problemText }, { requested: 0 }],
  });
});

test('a dead letter whose redrive is under way is not given up', async () => {
  const id = await storeDeadLetter('no such event type');
  await runCommand('redrive-dead-letters', { id: String(id), by: 'ana' });
  const options = { id: String(id), by: 'ben', reason: 'hopeless' };
  expect((await runCommand('discard-dead-letter', options)).isDone).toBe(false);
  await expect(runCommand('discard-dead-letter', { id: '1', by: 'ben' })).rejects.toThrow(
    '--reason must be given',
  );
});

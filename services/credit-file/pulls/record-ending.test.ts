import { KeyRing } from '@creditlane/crypto/key-ring';
import { systemClock } from '@creditlane/runtime/clock';
import { newId } from '@creditlane/runtime/ids';
import { silentLog } from '@creditlane/runtime/test-log';
import { expect, test, vi } from 'vitest';
import { openCustodyDatabase } from '../custody/test-custody.ts';
import type { OwnedPull } from '../store/pull-states.ts';
import { findPull } from '../store/pulls.ts';
import { KEYS, readEnded, request } from '../test-credit-file.ts';
import { recordEnding } from './record-ending.ts';
import { usePulls } from './test-pulls.ts';

const { fixture, inquiries, stateOf } = usePulls();
const DEPS = {
  keyRing: KeyRing.parse(KEYS),
  clock: systemClock,
  log: silentLog,
  random: Math.random,
  newId,
};

/** The database has no space for the end of a pull until the returned function is called; counts its refusals. */
async function refuseEndings() {
  const { sql } = fixture.service;
  // A sequence counts also in transactions that are rolled back.
  await sql.query(`CREATE SEQUENCE refused_endings;
    CREATE FUNCTION refuse_ending() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      PERFORM nextval('refused_endings');
      RAISE 'no space left' USING ERRCODE = 'disk_full';
    END $$;
    CREATE TRIGGER refuse_ending BEFORE UPDATE ON pulls
      FOR EACH ROW WHEN (NEW.state = 'COMPLETE') EXECUTE FUNCTION refuse_ending()`);
  return {
    count: async () =>
      Number((await sql.query('SELECT last_value FROM refused_endings')).rows[0].last_value),
    allow: () => sql.query('DROP FUNCTION refuse_ending CASCADE; DROP SEQUENCE refused_endings'),
  };
}

/** What a transaction sends, as far as the loss of a commit needs it. */
interface Sent {
  queries?: readonly { name: string }[];
  callback: (error: Error, results: []) => void;
  handleReadyForQuery: () => void;
}

/** A pool whose first commit has its effect, and whose connection is lost before the answer. */
function openLosingPool() {
  const pool = fixture.service.database.connect();
  const connect = pool.connect.bind(pool);
  let isLost = false;
  const connectOnce = async () => {
    const client = await connect();
    const query = client.query.bind(client) as (sent: Sent) => void;
    const losing = (sent: Sent) => {
      if (!isLost && sent.queries?.some(({ name }) => name === 'commit')) {
        isLost = true;
        const error = Object.assign(new Error('lost'), { code: 'ECONNRESET' });
        sent.handleReadyForQuery = () => sent.callback(error, []);
      }
      return query(sent);
    };
    return Object.assign(client, { query: losing });
  };
  return Object.assign(pool, { connect: connectOnce as never, hasLost: () => isLost });
}

test('an answer is recorded when the database takes it again, however long that lasts', async () => {
  const { service, applicant } = fixture;
  const refused = await refuseEndings();
  const { id } = await request(service, applicant);
  await expect.poll(refused.count).toBeGreaterThan(1);
  const nowMs = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs() + 3_600_000);
  const count = await refused.count();
  await expect.poll(refused.count).toBeGreaterThan(count + 2);
  vi.restoreAllMocks();
  await refused.allow();
  await expect.poll(async () => (await stateOf(id)).state).toBe('COMPLETE');
  expect((await readEnded(service, applicant)).file).toMatchObject({ id: 'U-4711' });
  expect(inquiries()).toHaveLength(1);
});

test('an ending is not tried again once its process has ended the connections to the database', async () => {
  const { pool, close } = await openCustodyDatabase();
  await close();
  const pull = { id: newId(), fence: 1 } as OwnedPull;
  const recorded = recordEnding({ ...DEPS, pool }, pull, { state: 'UNKNOWN' });
  await expect(recorded).rejects.toThrow('Cannot use a pool after calling end on the pool');
});

test('an ending whose commit got no answer is recorded once, and returned as that of its owner', async () => {
  const { service, applicant } = fixture;
  const release = service.bureau.hold();
  const { id } = await request(service, applicant);
  await expect.poll(() => inquiries().length).toBe(1);
  const pull = { ...(await findPull(service.sql, id)), fence: 1 } as OwnedPull;
  const pool = openLosingPool();
  const ending = { state: 'COMPLETE', file: { id: 'U-1', hitType: 'HIT' } } as const;
  const ended = await recordEnding({ ...DEPS, pool }, pull, ending);
  expect([pool.hasLost(), ended?.id, ended?.state]).toEqual([true, id, 'COMPLETE']);
  const finished = "SELECT FROM audit_records WHERE pull_id = $1 AND action = 'PULL_FINISHED'";
  expect((await service.sql.query(finished, [id])).rowCount).toBe(1);
  // The first attempt of anybody else finds that the pull has ended.
  const again = recordEnding({ ...DEPS, pool }, pull, ending);
  expect(await again).toBeUndefined();
  release();
});

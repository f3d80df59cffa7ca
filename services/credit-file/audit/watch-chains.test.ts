import { KeyRing } from '@creditlane/crypto/key-ring';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { silentLog } from '@creditlane/runtime/test-log';
import { describe, expect, test } from 'vitest';
import { aRead, KEYS, NEXT_KEYS, RING } from '../custody/test-custody.ts';
import { SeenHeads } from './seen-heads.ts';
import { useAuditChain } from './test-audit-chain.ts';
import { type NotedHead, verifyChain } from './verify-chain.ts';
import { findBrokenHeads, watchChains } from './watch-chains.ts';

const chain = useAuditChain();
const { append, appendReads, sealedHead, tamper } = chain;

test('a chain whose head does not name its last record is found without reading the others', async () => {
  const deps = { pool: chain.database.pool, keyRing: RING, log: silentLog };
  const watch = async () => (await findBrokenHeads(deps, new SeenHeads())).broken;
  await appendReads(2);
  const first = await sealedHead();
  await append(aRead(chain.retailerId));
  expect(await watch()).not.toContain(chain.retailerId);
  await tamper(`UPDATE audit_records SET actor = 'forged' WHERE THIS AND seq = 3`);
  expect(await watch()).toContain(chain.retailerId);
  await tamper(`DELETE FROM audit_records WHERE THIS AND seq = 3`);
  expect(await watch()).toContain(chain.retailerId);
  await tamper(`UPDATE audit_heads SET sealed = '\\x${first}' WHERE THIS`);
  expect(await watch()).not.toContain(chain.retailerId);
  await tamper(`UPDATE audit_heads SET sealed = sealed || 'x' WHERE THIS`);
  expect(await watch()).toContain(chain.retailerId);
  await tamper(`DELETE FROM audit_heads WHERE THIS`);
  expect(await watch()).toContain(chain.retailerId);
});

test('a chain whose head has a key that the ring lacks is not reported as broken, and the age of the look grows', async () => {
  await appendReads(1);
  const next = KeyRing.parse(NEXT_KEYS);
  const deps = { pool: chain.database.pool, keyRing: next, log: silentLog };
  const { broken, unopened } = await findBrokenHeads(deps, new SeenHeads());
  expect(unopened).toContain(chain.retailerId);
  expect(broken).not.toContain(chain.retailerId);
  const metrics = new Metrics();
  const times = [0];
  const watch = watchChains({ ...deps, metrics, nowMs: () => times.shift() ?? 900_000 });
  await watch.close();
  expect(await metrics.text()).toContain('creditlane_credit_file_audit_watch_age_seconds 900\n');
  const problem = 'the head cannot be opened: the key ring does not contain the key of a record';
  const verified = await verifyChain(chain.database.pool, next, chain.retailerId);
  expect(verified).toMatchObject({ kind: 'broken', problem });
});

describe('a chain that a process has seen is found', () => {
  const deps = () => ({ pool: chain.database.pool, keyRing: RING, log: silentLog });
  /** Sees the chain with three records, and resolves to a look at it and to the head of its first record. */
  async function see() {
    const seen = new SeenHeads();
    await appendReads(1);
    const first = await sealedHead();
    await appendReads(2);
    const isFound = async () =>
      (await findBrokenHeads(deps(), seen)).broken.includes(chain.retailerId);
    expect(await isFound()).toBe(false);
    return { isFound, first };
  }
  const cutTo = (first: string) =>
    tamper(
      'DELETE FROM audit_records WHERE THIS AND seq > 1',
      `UPDATE audit_heads SET sealed = '\\x${first}' WHERE THIS`,
    );

  test('when its tail was cut and its earlier head put back, until the process ends', async () => {
    const { isFound, first } = await see();
    await cutTo(first);
    expect(await isFound()).toBe(true);
    await appendReads(1);
    expect(await isFound()).toBe(true);
    expect((await findBrokenHeads(deps(), new SeenHeads())).broken).not.toContain(chain.retailerId);
  });

  test('when its tail was replaced by more records than it had', async () => {
    const { isFound, first } = await see();
    await cutTo(first);
    await appendReads(4);
    expect(await isFound()).toBe(true);
  });

  test('when it was removed as a whole', async () => {
    const { isFound } = await see();
    await tamper('DELETE FROM audit_records WHERE THIS', 'DELETE FROM audit_heads WHERE THIS');
    expect(await isFound()).toBe(true);
  });

  test('not when it has grown', async () => {
    const { isFound } = await see();
    await appendReads(2);
    expect(await isFound()).toBe(false);
  });
});

describe('the heads of chains are logged', () => {
  const MINUTE_MS = 60_000;
  const logged: (object & { retailerId?: string })[] = [];
  const log = { ...silentLog, info: (fields: object) => void logged.push(fields) } as never;
  const deps = () => ({ pool: chain.database.pool, keyRing: RING, log: silentLog });
  const lookAt = async (seen: SeenHeads, minutes: number) => {
    logged.length = 0;
    await findBrokenHeads(deps(), seen);
    seen.log(log, minutes * MINUTE_MS);
    return logged.filter(({ retailerId }) => retailerId === chain.retailerId);
  };

  test('at the start, every ten minutes when they have changed, and once a day', async () => {
    const seen = new SeenHeads();
    await appendReads(1);
    expect(await lookAt(seen, 0)).toMatchObject([{ seq: 1 }]);
    await appendReads(1);
    expect(await lookAt(seen, 9)).toEqual([]);
    expect(await lookAt(seen, 10)).toMatchObject([{ seq: 2 }]);
    expect(await lookAt(seen, 20)).toEqual([]);
    expect(await lookAt(seen, 24 * 60)).toMatchObject([{ seq: 2 }]);
  });

  test('signed, so that a verification trusts them and no others', async () => {
    await appendReads(1);
    const first = await sealedHead();
    await appendReads(1);
    const [noted] = (await lookAt(new SeenHeads(), 0)) as NotedHead[];
    if (noted === undefined) return expect.unreachable();
    const verify = (head: NotedHead) =>
      verifyChain(chain.database.pool, RING, chain.retailerId, [head]);
    expect(await verify(noted)).toMatchObject({ kind: 'whole' });
    const problem = 'the noted head is not authentic';
    const forged = [
      { ...noted, seq: 1 },
      { ...noted, hash: 'ab'.repeat(32) },
      { ...noted, signed: `${noted.signed?.slice(0, -8)}AAAAAAA=` },
    ];
    for (const head of forged)
      expect(await verify(head)).toMatchObject({ kind: 'broken', problem });
    await tamper(
      'DELETE FROM audit_records WHERE THIS AND seq > 1',
      `UPDATE audit_heads SET sealed = '\\x${first}' WHERE THIS`,
    );
    expect(await verify(noted)).toMatchObject({ kind: 'broken', seq: 2 });
  });
});

test('the age of the last look grows while the chains cannot be read', async () => {
  const keyRing = KeyRing.parse(`${KEYS},${NEXT_KEYS}`);
  const away = { connect: () => Promise.reject(new Error('the database is away')) } as never;
  for (const [pool, ageSeconds] of [
    [away, 900],
    [chain.database.pool, 0],
  ] as const) {
    const metrics = new Metrics();
    const times = [0];
    const nowMs = () => times.shift() ?? 900_000;
    const watch = watchChains({ pool, keyRing, log: silentLog, metrics, nowMs });
    await watch.close();
    const age = `creditlane_credit_file_audit_watch_age_seconds ${ageSeconds}\n`;
    expect(await metrics.text()).toContain(age);
  }
});

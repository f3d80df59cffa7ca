import { KeyRing } from '@creditlane/crypto/key-ring';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { silentLog } from '@creditlane/runtime/test-log';
import { expect, test } from 'vitest';
import { aRead, KEYS, NEXT_KEYS, RING } from '../custody/test-custody.ts';
import { useAuditChain } from './test-audit-chain.ts';
import { verifyChain } from './verify-chain.ts';
import { findBrokenHeads, watchChains } from './watch-chains.ts';

const chain = useAuditChain();
const { append, appendReads, sealedHead, tamper } = chain;

test('a chain whose head does not name its last record is found without reading the others', async () => {
  const deps = { pool: chain.database.pool, keyRing: RING, log: silentLog };
  const watch = async () => (await findBrokenHeads(deps)).broken;
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
  const { broken, unopened } = await findBrokenHeads(deps);
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

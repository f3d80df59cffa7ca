import { decisions } from '@creditlane/decisions/service';
import { migrate } from '@creditlane/postgres/migrate';
import { createTestDatabase } from '@creditlane/postgres/test-database';
import { newId } from '@creditlane/runtime/ids';
import { silentLog } from '@creditlane/runtime/test-log';
import { expect, onTestFinished, test } from 'vitest';
import { runSql } from '../data/sql.ts';
import { measureDirectWrites } from './direct-writes.ts';

test("PostgreSQL alone records a decision for each run of the service's statement", async () => {
  const { url, drop } = await createTestDatabase('direct_writes');
  onTestFinished(drop);
  await migrate(url, [...decisions.database.migrations], silentLog);
  const [applicationId, creditorId] = [newId(), newId()];
  await runSql(
    url,
    "INSERT INTO submissions VALUES ($1, $2, gen_random_uuid(), now(), 0, '{}', '{}')",
    [applicationId, creditorId],
  );
  const { perSecond } = await measureDirectWrites({
    ...{ url, creditorId, applicationIds: [applicationId], connections: 1 },
    // The first write is planned and compiled; beside other tests it has taken more than 50 ms.
    ...{ warmUpMs: 0, measureMs: 1_000 },
  });
  expect(perSecond).toBeGreaterThan(0);
  const [written] = await runSql(
    url,
    'SELECT count(*)::int AS decisions, count(DISTINCT call_id)::int AS calls FROM decisions',
  );
  expect(written?.calls).toBeGreaterThan(0);
  expect(written?.calls).toBe(written?.decisions);
});

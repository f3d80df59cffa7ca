/** The SQL that tells whether the dispatcher has anything to do now. */
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';

const unsettled = defineStatement<{ any: boolean }>(
  'deliveries_unsettled',
  `SELECT EXISTS (SELECT FROM deliveries
       WHERE storage <> 'ended' AND state = 'due' AND (leased OR next_attempt_at <= now()))
       OR EXISTS (SELECT FROM replay_jobs WHERE finished_at IS NULL) AS any`,
);

/** Whether any delivery is due, leased or to be replayed, by whichever process. */
export async function hasUnsettledDeliveries(db: Queryable): Promise<boolean> {
  const [row] = await unsettled.run(db);
  return row?.any === true;
}

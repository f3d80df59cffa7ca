/** Ends the pulls whose owner died after it had sent the inquiry. */
import type { Database } from '@creditlane/postgres/database';
import { inTransaction } from '@creditlane/postgres/transaction';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { endLostPulls } from '../store/pull-states.ts';
import type { PullRow } from './pull.ts';
import { appendPullRecord, type PullAuditDeps } from './pull-audit.ts';

export interface LostPullsDeps extends PullAuditDeps {
  pool: Database['pool'];
  log: Log;
}

/**
 * Ends the retailers' pulls whose owner died after it had sent the inquiry: their outcome is unknown. Those of a retailer
 * whose audit log takes no record stay, and keep nobody else's pulls from going on.
 *
 * @param own the pulls that this process runs, which are not lost
 */
export async function endLost(
  deps: LostPullsDeps,
  retailerIds: readonly string[],
  own: readonly string[],
): Promise<PullRow[]> {
  const ended: PullRow[] = [];
  for (const retailerId of retailerIds) {
    try {
      ended.push(...(await endLostOf(deps, retailerId, own)));
    } catch (err) {
      deps.log.error({ err, retailerId }, 'the lost pulls of a retailer cannot be ended');
    }
  }
  return ended;
}

function endLostOf(
  deps: LostPullsDeps,
  retailerId: string,
  own: readonly string[],
): Promise<PullRow[]> {
  return inTransaction(deps.pool, async (tx) => {
    const lost = await endLostPulls(tx, retailerId, own);
    for (const pull of lost) {
      await appendPullRecord(deps, tx, pull, { action: 'PULL_FINISHED', outcome: pull.state });
    }
    return lost;
  });
}

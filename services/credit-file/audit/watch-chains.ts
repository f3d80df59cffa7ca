/** Looks at the head of every chain of the audit log all the time: a broken one raises an alert. */
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { Database } from '@creditlane/postgres/database';
import {
  type PeriodicTask,
  startPeriodicTask,
} from '@creditlane/runtime/concurrency/periodic-task';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { findLastRecords } from '../store/audit-log.ts';
import { hashOf } from './audit-record.ts';
import { problemOfHead } from './verify-chain.ts';

/** A head costs a read of an index and 20 µs of CPU. */
const HEADS_PER_QUERY = 500;
const EVERY_MS = 60_000;

export interface WatchDeps {
  pool: Database['pool'];
  keyRing: KeyRing;
  log: Log;
}

/**
 * The retailers whose chain does not end as its head says: a head that was changed or set back, a last record that was
 * changed, and records that were cut off. `verifyChain` alone finds a change of an earlier record.
 */
export async function findBrokenHeads({ pool, keyRing, log }: WatchDeps): Promise<string[]> {
  const broken: string[] = [];
  for (let after = ''; ; ) {
    const chains = await findLastRecords(pool, after, HEADS_PER_QUERY);
    for (const { retailerId, sealed, record, previousHash } of chains) {
      const isIntact =
        record === undefined || hashOf(previousHash, record.seq, record).equals(record.hash);
      const problem = isIntact
        ? problemOfHead(keyRing, sealed, retailerId, record)
        : `record ${record.seq} does not match its hash`;
      if (problem === undefined) continue;
      log.error({ retailerId, problem }, 'a chain of the audit log is broken');
      broken.push(retailerId);
    }
    const last = chains.at(-1);
    if (last === undefined || chains.length < HEADS_PER_QUERY) return broken;
    after = last.retailerId;
  }
}

/** Looks every minute until closed. */
export function watchChains({ metrics, ...deps }: WatchDeps & { metrics: Metrics }): PeriodicTask {
  let count = 0;
  metrics.gauge(
    'credit_file_broken_audit_chains',
    'Chains of the audit log that do not end as their heads say.',
    [],
    (gauge) => gauge.set(count),
  );
  return startPeriodicTask(EVERY_MS, async () => {
    try {
      count = (await findBrokenHeads(deps)).length;
    } catch (err) {
      deps.log.warn({ err }, 'the heads of the audit log cannot be read');
    }
  });
}

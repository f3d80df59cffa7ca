/**
 * Looks at the end of every chain of the audit log every minute, and exports how many are broken, for an alert. Logs the heads,
 * so that they stand outside of the database.
 */
import { UnknownKeyError } from '@creditlane/crypto/envelope';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { Database } from '@creditlane/postgres/database';
import {
  type PeriodicTask,
  startPeriodicTask,
} from '@creditlane/runtime/concurrency/periodic-task';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { type ChainEnd, findChainEnds } from '../store/audit-log.ts';
import { hashOf } from './audit-record.ts';
import { type SeenHead, SeenHeads } from './seen-heads.ts';
import { problemOfHead } from './verify-chain.ts';

/** A chain costs a few reads of indexes, and 20 µs of CPU for its head. */
const CHAINS_PER_QUERY = 500;
const EVERY_MS = 60_000;
const UNOPENED = 'heads of the audit log cannot be opened: the key ring lacks their keys';

export interface WatchDeps {
  pool: Database['pool'];
  keyRing: KeyRing;
  log: Log;
}

/** The retailers whose chains are broken, and those whose heads cannot be opened. */
interface WatchedHeads {
  broken: string[];
  /** The ring lacks the key of the head: this process may get the file of the ring minutes after another one. */
  unopened: string[];
}

/**
 * Finds the retailers whose chain does not end as its head says: a head that was changed, set back or deleted, a last record
 * that was changed, and records that were cut off; and those whose chain lacks a record that `seen` has, also when its head was
 * set back. `verifyChain` alone finds a change of an earlier record.
 */
export async function findBrokenHeads(
  { pool, keyRing, log }: WatchDeps,
  seen: SeenHeads,
): Promise<WatchedHeads> {
  const found: WatchedHeads = { broken: [], unopened: [] };
  const report = (retailerId: string, problem: string) => {
    log.error({ retailerId, problem }, 'a chain of the audit log is broken');
    found.broken.push(retailerId);
  };
  const present = new Set<string>();
  for (let after = ''; ; ) {
    const chains = await findChainEnds(pool, after, CHAINS_PER_QUERY);
    const intact: SeenHead[] = [];
    for (const chain of chains) {
      const { retailerId, sealed, record } = chain;
      present.add(retailerId);
      const problem = problemOfEnd(keyRing, chain);
      if (problem instanceof UnknownKeyError) found.unopened.push(retailerId);
      else if (problem !== undefined) report(retailerId, problem);
      else if (record && sealed)
        intact.push({ retailerId, seq: record.seq, hash: record.hash, sealed });
    }
    for (const [retailerId, problem] of await seen.compare(pool, intact))
      report(retailerId, problem);
    const last = chains.at(-1);
    if (last === undefined || chains.length < CHAINS_PER_QUERY) break;
    after = last.retailerId;
  }
  for (const retailerId of seen.missing(present)) report(retailerId, 'the chain is missing');
  return found;
}

function problemOfEnd(keyRing: KeyRing, { retailerId, sealed, record, previousHash }: ChainEnd) {
  const isIntact =
    record === undefined || hashOf(previousHash, record.seq, record).equals(record.hash);
  return isIntact
    ? problemOfHead(keyRing, sealed, retailerId, record)
    : `record ${record.seq} does not match its hash`;
}

/**
 * Looks every minute until closed.
 *
 * @param nowMs a monotonic clock
 */
export function watchChains({
  metrics,
  nowMs = () => performance.now(),
  ...deps
}: WatchDeps & { metrics: Metrics; nowMs?: () => number }): PeriodicTask {
  const seen = new SeenHeads();
  let count = 0;
  let lookedMs = nowMs();
  metrics.gauge(
    'credit_file_broken_audit_chains',
    'Chains of the audit log that do not end as their heads say, or lack a record that the process has seen.',
    [],
    (gauge) => gauge.set(count),
  );
  metrics.gauge(
    'credit_file_audit_watch_age_seconds',
    'Since the end of every chain of the audit log was last looked at, or since the start.',
    [],
    (gauge) => gauge.set((nowMs() - lookedMs) / 1_000),
  );
  return startPeriodicTask(EVERY_MS, async () => {
    try {
      const { broken, unopened } = await findBrokenHeads(deps, seen);
      count = broken.length;
      seen.log(deps.log, nowMs());
      const [retailerId] = unopened;
      if (retailerId === undefined) lookedMs = nowMs();
      else deps.log.warn({ retailerId, chains: unopened.length }, UNOPENED);
    } catch (err) {
      deps.log.warn({ err }, 'the heads of the audit log cannot be read');
    }
  });
}

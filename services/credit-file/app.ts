/** The credit-file service: pulls credit files from the bureaus, keeps them encrypted, and lets them be read. */
import { startRotation } from '@creditlane/crypto/rotation';
import { purgeIdempotency } from '@creditlane/idempotency/stored-answers';
import { isFloorRaised, raiseFloor } from '@creditlane/postgres/raise-floor';
import { startRetention } from '@creditlane/postgres/retention';
import { ApplicationsService } from '@creditlane/proto/applications/v1/applications_service';
import { ConsentsService } from '@creditlane/proto/applications/v1/consents_service';
import { connectPeer } from '@creditlane/rpc/peer-client';
import { type Clock, systemClock } from '@creditlane/runtime/clock';
import { newId } from '@creditlane/runtime/ids';
import type { ServiceContext, WithCalls, WithDatabase } from '@creditlane/service/define-service';
import { watchChains } from './audit/watch-chains.ts';
import { bureauCredentialsRoutes } from './bureau-credentials/bureau-credentials-rpc.ts';
import { openBureaus, type SendInquiry } from './bureaus/open-bureaus.ts';
import type { CreditFile } from './credit-file.ts';
import { startFilePurge } from './custody/purge-files.ts';
import {
  ERASURE_TIMES,
  type ErasureTimes,
  startUnfinishedErasures,
} from './custody/unfinished-erasures.ts';
import { DocumentOpenings } from './document/document-openings.ts';
import { DocumentRenderer } from './document/document-renderer.ts';
import { KeptDocuments } from './document/kept-documents.ts';
import { retailerContexts1766100000000 } from './migrations/0020-retailer-contexts.ts';
import type { PullRow } from './pulls/pull.ts';
import { PullMetrics } from './pulls/pull-metrics.ts';
import { PullWorker } from './pulls/pull-worker.ts';
import { PullWaits } from './reading/pull-waits.ts';
import { startRecordingOpenings } from './reading/record-openings.ts';
import { creditFileRoutes } from './rpc.ts';
import type { SETTINGS } from './settings.ts';
import { purgeLinks } from './store/document-links.ts';
import { purgeForcedPulls } from './store/forced-pulls.ts';
import { sealedTables } from './store/sealed-tables.ts';

export type CreditFileContext = ServiceContext<typeof SETTINGS> &
  WithDatabase &
  WithCalls<'applications'>;

/** What a test puts in the place of the bureaus and of the time. */
export interface CreditFileDeps {
  clock?: Clock;
  sendInquiry?: SendInquiry;
  random?: () => number;
  /** How often pulls of other processes are looked for. */
  pollMs?: number;
  erasureTimes?: ErasureTimes;
}

const CONTEXTS_NOT_RECORDED =
  'the audit log does not name the retailer of the context yet: run --record-retailer-contexts once no replica of the version before is left';

const DAY_MS = 24 * 60 * 60 * 1_000;
/** How long after the deadline of its inquiry the end of a pull may be stored. */
const STORING_MS = 2_000;

/**
 * Starts to wrap every sealed record with the key ring's current key, and runs the pulls that are due.
 * @throws UnknownKeyError when the ring lacks the key of a record
 */
export async function startCreditFile(
  { settings, process, database, endpoints, signer, isAlone = false }: CreditFileContext,
  {
    clock = systemClock,
    sendInquiry,
    random = Math.random,
    pollMs = 5_000,
    erasureTimes = ERASURE_TIMES,
  }: CreditFileDeps = {},
) {
  const { log, metrics, closers, health } = process;
  const { keyRing, leaseMs } = settings;
  const { pool, requests, rowTurns } = database;

  closers.own('credit-file rotation', await startRotation(keyRing, sealedTables(pool), log));

  startUpkeep({ settings, process, database }, clock);

  const peers = { endpoints, signer, closers, metrics };
  // Optional: pulls, erasures and links to documents need the applications service, and files are read without it.
  const optional = { ...peers, health: health.optional };
  const consents = connectPeer(ConsentsService, 'applications', optional);
  const applications = connectPeer(ApplicationsService, 'applications', peers);
  if (isAlone) await raiseFloor(pool, retailerContexts1766100000000);
  const recordsRetailerContext = await isFloorRaised(pool, retailerContexts1766100000000);
  if (!recordsRetailerContext) log.warn(CONTEXTS_NOT_RECORDED);
  const parts = { pool, requests, rowTurns, clock, newId, log, metrics, consents, applications };
  const shared = { ...settings, ...parts, recordsRetailerContext };
  closers.own('credit-file erasures', startUnfinishedErasures(shared, erasureTimes));
  const pullMetrics = new PullMetrics(metrics, pool);
  const pullWaits = new PullWaits(pool, log, () => health.isDraining);
  closers.own('credit-file waits', pullWaits);
  const bureaus = openBureaus(settings.bureaus, process);
  const onEnded = (pull: PullRow) => {
    pullMetrics.countEnded(pull);
    pullWaits.report(pull.id);
  };
  const worker = new PullWorker({
    ...shared,
    sendInquiry: sendInquiry ?? bureaus.inquire,
    sentLeaseMs: settings.bureaus.deadlineMs + leaseMs,
    pollMs,
    random,
    onUnknownCodes: (source, codes) => pullMetrics.countUnknownCodes(source, codes),
    onEnded,
  });
  // At the same time: the worker waits for the inquiries under way, each of which ends by its deadline.
  const closePulls = async () => {
    await Promise.all([worker.close(), bureaus.close()]);
  };
  closers.add('credit-file pulls', closePulls, settings.bureaus.deadlineMs + STORING_MS);

  const renderer = closers.own('credit-file documents', new DocumentRenderer({ log, metrics }));

  const { hostRules, requireConfigured } = bureaus;
  const deps = {
    ...shared,
    requireConfigured,
    minAgeMs: settings.pullMinAgeDays * DAY_MS,
    onRequested: () => worker.wake(),
    onEnded,
    pullWaits,
    openings: new DocumentOpenings(),
    keptDocuments: new KeptDocuments(),
    render: (file: CreditFile, signal: AbortSignal) => renderer.render(file, signal),
  };
  return {
    routes: [
      creditFileRoutes(deps),
      bureauCredentialsRoutes({ ...shared, hostRules, requireConfigured }),
    ],
  };
}

/** Starts the work that no request waits for: purges, and the watch over the audit log. */
function startUpkeep(
  { settings, process, database }: Pick<CreditFileContext, 'settings' | 'process' | 'database'>,
  clock: Clock,
): void {
  const { log, metrics, closers } = process;
  const { keyRing, fileRetentionDays } = settings;
  const { pool, rowTurns } = database;
  const purges = [purgeIdempotency, purgeForcedPulls, purgeLinks];
  closers.own('credit-file retention', startRetention({ pool, log, purges }));
  const filePurge = startFilePurge({ pool, keyRing, clock, log, fileRetentionDays });
  closers.own('credit-file purge', filePurge);
  const recording = startRecordingOpenings({ pool, rowTurns, keyRing, clock, log });
  closers.own('credit-file openings', recording);
  closers.own('credit-file audit log', watchChains({ pool, keyRing, log, metrics }));
}

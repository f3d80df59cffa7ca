/** The commands of operators, which run beside the service: `node services/credit-file/main.ts --verify-audit`. */
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { raiseFloor } from '@creditlane/postgres/raise-floor';
import { systemClock } from '@creditlane/runtime/clock';
import { loggableMessage } from '@creditlane/runtime/telemetry/error-fields';
import { rewrapKeysCommand } from '@creditlane/service/rewrap-keys-command';
import {
  type CommandContext,
  CommandOptionError,
  type CommandOptions,
  type ServiceCommand,
  uuidOf,
} from '@creditlane/service/service-command';
import type { AuditActor } from './audit/audit-record.ts';
import { findPullEvidence } from './audit/pull-evidence.ts';
import { type NotedHead, verifyAuditLog } from './audit/verify-chain.ts';
import { eraseCreditFiles } from './custody/erase-applicant.ts';
import { countDueFiles, purgeFiles } from './custody/purge-files.ts';
import { retailerContexts1766100000000 } from './migrations/0020-retailer-contexts.ts';
import type { SETTINGS } from './settings.ts';
import { findOutcome, repeatErasures } from './store/applicant-erasures.ts';
import { forgetCallerRequestIdsOfErased } from './store/pulls.ts';
import { sealedTables } from './store/sealed-tables.ts';

type Context = CommandContext<typeof SETTINGS>;

const OPERATOR: AuditActor = { kind: 'operator', id: 'command' };

/** How often `--erase-applicant` looks whether the erasure is finished. */
const OUTCOME_POLL_MS = 250;
/** A running service notices the erasure within 10 s. */
const DEFAULT_WAIT_S = 30;

export const COMMANDS: Readonly<Record<string, ServiceCommand<typeof SETTINGS>>> = {
  'verify-audit': { options: { noted: { type: 'string' } }, run: verify },
  'rewrap-keys': rewrapKeysCommand(sealedTables),
  'purge-files': { options: { 'dry-run': { type: 'boolean' } }, run: purge },
  'erase-applicant': {
    options: {
      retailer: { type: 'string' },
      applicant: { type: 'string' },
      wait: { type: 'string' },
    },
    run: erase,
  },
  'repeat-erasures': { options: {}, run: repeat },
  'record-retailer-contexts': { options: {}, run: recordRetailerContexts },
  'pull-evidence': { options: { pull: { type: 'string' } }, run: printEvidence },
};

/** Prints the head of every whole chain, and the first broken record of every other. */
async function verify({ settings, database, print }: Context, options: CommandOptions) {
  const noted = options.noted === undefined ? undefined : await readNotedHeads(`${options.noted}`);
  const count = { chains: 0, broken: 0, ...(noted && { compared: noted.length }) };
  for await (const verified of verifyAuditLog(database.pool, settings.keyRing, noted)) {
    count.chains += 1;
    if (verified.kind === 'broken') count.broken += 1;
    print(verified.kind === 'whole' ? verified.head : verified);
  }
  print(count);
  return count.broken === 0;
}

/**
 * The heads in the output of an earlier verification, or in the log of the service, whose other lines are passed over.
 * @throws CommandOptionError for a file without any, which would compare nothing
 */
async function readNotedHeads(path: string): Promise<NotedHead[]> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CommandOptionError(`--noted: ${path} cannot be read: ${error.code}`);
  });
  const heads = text.split('\n').flatMap((line, index) => {
    if (!line.startsWith('{')) return [];
    try {
      return notedHeadOf(JSON.parse(line));
    } catch {
      throw new CommandOptionError(`--noted: ${path}: line ${index + 1} is no whole JSON`);
    }
  });
  if (heads.length > 0) return heads;
  throw new CommandOptionError(`--noted: ${path} names no head of a chain`);
}

function notedHeadOf({ retailerId, seq, hash, signed }: Partial<NotedHead>): NotedHead[] {
  const isHead =
    typeof retailerId === 'string' && typeof seq === 'number' && typeof hash === 'string';
  return isHead ? [{ retailerId, seq, hash, ...(typeof signed === 'string' && { signed }) }] : [];
}

async function purge({ settings, database, print }: Context, options: CommandOptions) {
  const { keyRing, fileRetentionDays } = settings;
  const deps = { pool: database.pool, keyRing, clock: systemClock, fileRetentionDays };
  if (options['dry-run'] === true) {
    const due = await countDueFiles(deps);
    for (const files of due) print(files);
    print({ due: due.reduce((sum, { files }) => sum + files, 0), fileRetentionDays });
    return true;
  }
  const { deleted, failures } = await purgeFiles(deps, OPERATOR);
  for (const { retailerId, err } of failures) print({ retailerId, problem: problemOf(err) });
  print({ deleted, fileRetentionDays });
  return failures.length === 0;
}

/** Why a command failed. The messages of other errors may quote values. */
function problemOf(err: unknown): string {
  return (err instanceof Error && loggableMessage(err)) || 'the files were not deleted';
}

/** Destroys the key, and waits until a running service has had the personal data erased. */
async function erase({ settings, database, print }: Context, options: CommandOptions) {
  const applicant = {
    retailerId: uuidOf(options, 'retailer'),
    applicantId: uuidOf(options, 'applicant'),
  };
  const waitS = Number(options.wait ?? DEFAULT_WAIT_S);
  if (!(waitS >= 0)) throw new CommandOptionError('--wait must be a number of seconds');
  const { pool } = database;
  const deps = { pool, keyRing: settings.keyRing, clock: systemClock };
  const { files } = await eraseCreditFiles(deps, applicant, { actor: OPERATOR });
  const untilMs = performance.now() + waitS * 1_000;
  let outcome = await findOutcome(pool, applicant);
  while (outcome === undefined && performance.now() < untilMs) {
    await delay(OUTCOME_POLL_MS);
    outcome = await findOutcome(pool, applicant);
  }
  print({ ...applicant, files, personalData: outcome ?? 'PENDING' });
  return outcome === 'ERASED';
}

/**
 * A running service then has the personal data of every erased applicant erased again, if it came back with a backup. The
 * callers' own ids of requests for them are deleted at once.
 */
async function repeat({ database, print }: Context) {
  await forgetCallerRequestIdsOfErased(database.pool);
  print({ repeated: await repeatErasures(database.pool, OPERATOR, systemClock()) });
  return true;
}

/**
 * Has each replica, from its next start, record the retailer for which a request was made. Run when no replica of a version is
 * left that takes such a record for a changed one; that version then does not start any more.
 */
async function recordRetailerContexts({ database, print }: Context) {
  await raiseFloor(database.pool, retailerContexts1766100000000);
  print({ recordsRetailerContexts: true });
  return true;
}

async function printEvidence({ settings, database, print }: Context, options: CommandOptions) {
  const pullId = uuidOf(options, 'pull');
  const evidence = await findPullEvidence(database.pool, settings.keyRing, pullId);
  print(evidence ?? { pullId, found: false });
  return evidence?.chain.kind === 'whole';
}

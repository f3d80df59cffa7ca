/** The commands of operators for dead deliveries: list, show, send again. */
import { runQuery } from '@creditlane/postgres/statement';
import { inTransaction } from '@creditlane/postgres/transaction';
import { NIL_UUID, newId } from '@creditlane/runtime/ids';
import {
  type CommandContext,
  CommandOptionError,
  type CommandOptions,
  operatorOf,
  type ServiceCommand,
  uuidOf,
} from '@creditlane/service/service-command';
import { refusalOf } from '../own-deliveries/replay-delivery.ts';
import { logReplayEnd } from '../replay-jobs/replay-job-worker.ts';
import type { SETTINGS } from '../settings.ts';
import {
  findDeadDeliveries,
  findDelivery,
  findDeliveryRedrives,
  hasDeadDelivery,
  insertDeliveryRedrive,
} from '../store/dead-deliveries.ts';
import { findAttemptsQuery } from '../store/own-deliveries.ts';
import { beginReplays, lockEarlierPending, lockReplayable } from '../store/replay-delivery.ts';
import { endReplayJob, findReplayJob, insertReplayJob } from '../store/replay-jobs.ts';

type Context = CommandContext<typeof SETTINGS>;

/** A page of a list. */
const MAX_LISTED = 100;
/** The owner of a replay job that an operator has asked for, in the place of the integration: no caller has this id. */
const OPERATOR = NIL_UUID;

export const DEAD_DELIVERY_COMMANDS: Readonly<Record<string, ServiceCommand<typeof SETTINGS>>> = {
  'dead-deliveries': {
    options: { destination: { type: 'string' }, after: { type: 'string' } },
    run: list,
  },
  'dead-delivery': { options: { id: { type: 'string' } }, run: show },
  'redrive-deliveries': {
    options: {
      id: { type: 'string' },
      destination: { type: 'string' },
      event: { type: 'string' },
      by: { type: 'string' },
    },
    run: redrive,
  },
  'delivery-redrives': { options: {}, run: listRedrives },
  'cancel-delivery-redrive': { options: { replay: { type: 'string' } }, run: cancel },
};

/** Prints a page, oldest first, and the `--after` of the next page, if there is one. No body is printed. */
async function list({ database, print }: Context, options: CommandOptions): Promise<boolean> {
  const { destination, after } = options;
  const rows = await findDeadDeliveries(database.pool, {
    ...(destination !== undefined && { destinationId: uuidOf(options, 'destination') }),
    ...(after !== undefined && { after: uuidOf(options, 'after') }),
    limit: MAX_LISTED + 1,
  });
  const page = rows.slice(0, MAX_LISTED);
  // A destination's list goes on at the time of this delivery, and would begin again without it.
  if (destination !== undefined && after !== undefined) {
    const last = await findDelivery(database.pool, uuidOf(options, 'after'));
    if (last === undefined) {
      throw new CommandOptionError('--after is no longer stored: begin again without it');
    }
  }
  for (const row of page) print(row);
  print({ listed: page.length, ...(rows.length > page.length && { after: page.at(-1)?.id }) });
  return true;
}

/** Prints a delivery with its latest attempts. */
async function show({ database, print }: Context, options: CommandOptions): Promise<boolean> {
  const id = uuidOf(options, 'id');
  const found = await findDelivery(database.pool, id);
  if (found === undefined) {
    print({ id, found: false });
    return false;
  }
  const latest = await runQuery(database.pool, findAttemptsQuery(id, MAX_LISTED));
  print({ ...found, latestAttempts: latest });
  return true;
}

/** Sends one dead delivery again, or all of a destination, which the running dispatchers pace. */
async function redrive(context: Context, options: CommandOptions): Promise<boolean> {
  const requestedBy = operatorOf(options);
  if ((options.id === undefined) === (options.destination === undefined)) {
    throw new CommandOptionError('either --id or --destination must be given');
  }
  if (options.id !== undefined) {
    if (options.event !== undefined) {
      throw new CommandOptionError('--event needs --destination');
    }
    return redriveOne(context, uuidOf(options, 'id'), requestedBy);
  }
  const event = options.event === undefined ? null : String(options.event);
  return redriveAll(context, { destinationId: uuidOf(options, 'destination'), event }, requestedBy);
}

const NOT_DEAD = 'there is no dead delivery with this id';
const DELETED = 'the delivery was deleted meanwhile';
const NO_REDRIVE = 'there is no redrive of a destination with this replayId';
const DISABLED =
  'the destination was disabled; if its owner has set it anew since, only --destination sends again';

/** The running dispatchers find the delivery in their next poll. */
async function redriveOne({ database, print }: Context, id: string, requestedBy: string) {
  const found = await findDelivery(database.pool, id);
  if (found?.state !== 'dead') {
    print({ id, redriven: false, problem: NOT_DEAD });
    return false;
  }
  const { destinationId } = found;
  const problem = await inTransaction(database.pool, async (tx) => {
    const start = await lockEarlierPending(tx, id, destinationId);
    if (start === undefined) return DELETED;
    const { waits, endTimes } = start;
    // Revision 0: only the integrations service knows whether a disabled destination was set anew since.
    const locked = await lockReplayable(tx, id, { destinationId, revision: 0 }, endTimes);
    if (locked === undefined) return DELETED;
    const refusal = refusalOf(locked);
    if (refusal?.code === 'destination_disabled') return DISABLED;
    if (refusal !== undefined) return refusal.message;
    // A replay of its owner may have delivered it since it was found.
    if (locked.state !== 'dead') return NOT_DEAD;
    await beginReplays(tx, [{ id, waits }], endTimes);
    await insertDeliveryRedrive(tx, requestedBy, { deliveryId: id });
    return undefined;
  });
  print({ id, redriven: problem === undefined, ...(problem !== undefined && { problem }) });
  return problem === undefined;
}

interface Wanted {
  destinationId: string;
  /** The name of the event type; null: any. */
  event: string | null;
}

async function redriveAll({ database, print }: Context, wanted: Wanted, requestedBy: string) {
  const { destinationId, event } = wanted;
  if (!(await hasDeadDelivery(database.pool, destinationId, event))) {
    const problem = 'it has no dead delivery of this kind';
    print({ destinationId, ...(event !== null && { event }), requested: false, problem });
    return false;
  }
  const replayId = newId();
  const job = {
    id: replayId,
    integrationId: OPERATOR,
    destinationId,
    event,
    deliveryState: 'dead' as const,
    createdFrom: null,
    createdBefore: null,
  };
  const isRequested = await inTransaction(database.pool, async (tx) => {
    if ((await insertReplayJob(tx, job)) === undefined) return false;
    await insertDeliveryRedrive(tx, requestedBy, { replayId });
    return true;
  });
  print(
    isRequested
      ? { destinationId, replayId, requested: true }
      : { destinationId, requested: false, problem: 'another replay of it is not finished yet' },
  );
  return isRequested;
}

/** Prints the last redrives of deliveries: who asked for them, and how far they are. */
async function listRedrives({ database, print }: Context): Promise<boolean> {
  for (const row of await findDeliveryRedrives(database.pool, MAX_LISTED)) print(row);
  return true;
}

/** Ends a replay job that an operator has asked for, whose owner can neither see nor cancel it. */
async function cancel(
  { database, log, print }: Context,
  options: CommandOptions,
): Promise<boolean> {
  const replayId = uuidOf(options, 'replay');
  const job = await findReplayJob(database.pool, replayId, OPERATOR);
  const ended = job && (await endReplayJob(database.pool, replayId, 'cancelled'));
  if (ended === undefined) {
    const problem = job === undefined ? NO_REDRIVE : 'it has ended already';
    print({ replayId, cancelled: false, problem });
    return false;
  }
  logReplayEnd(log, ended);
  print({ replayId, cancelled: true });
  return true;
}

/**
 * What a service has written, for the comparison with what its consumers have handled: the rows of its outbox, and
 * the records that each must have made an event. Both are read in windows, by ids that rise, and each row once.
 */

import { runPipeline } from '@creditlane/postgres/pipeline';
import { defineStatement, type Statement } from '@creditlane/postgres/statement';
import { OutboxService } from '@creditlane/proto/messaging/v1/outbox_service';
import { invalidFields } from '@creditlane/rpc/fault';
import { implement, type ServiceRoutes } from '@creditlane/rpc/service';
import { firstIdOfTime } from '@creditlane/runtime/ids';
import type pg from 'pg';

/** The rows of a part. */
const MAX_ROWS = 2_000;
/**
 * An event that waits for so long, while later ones of its shard are published, counts as written all the same: its
 * partition cannot be written, or its row was forgotten. The reconciler reports it one to two minutes after it was written.
 */
const OVERTAKEN_SECONDS = 40;
/**
 * A record whose id is older than this has its event in the outbox, also where the clock that made the id is a little ahead.
 * When the id is older than this at the commit, because that clock is behind or the write took so long, the position may have
 * passed it: its event is then compared through the outbox alone.
 */
const RECORDED_AGE_MS = 8_000;

/** An outbox row that was written at least five seconds ago. */
export interface WrittenRow {
  readonly id: number;
  readonly shard: number;
  readonly eventId: string;
  readonly ageSeconds: number;
  readonly published: boolean;
  /** Whether a transaction that has drawn a lower id may still commit. */
  readonly lowerIdsMayCommit: boolean;
}

/**
 * `xmin` is the transaction of a row's last change: that in which the relay marked it. A transaction that has drawn a lower
 * id began to write before that one, and has ended once all up to `xmin` have. Five seconds after the mark, its rows are
 * old enough for this statement, too.
 */
const selectWritten = defineStatement<WrittenRow>(
  'written_events',
  `SELECT id, shard, event_id AS "eventId", published_at IS NOT NULL AS published,
     extract(epoch FROM now() - created_at)::float8 AS "ageSeconds",
     (published_at IS NOT NULL AND published_at > now() - interval '5 s')
       OR age(xmin) <= (SELECT age(pg_snapshot_xmin(pg_current_snapshot())::xid)) AS "lowerIdsMayCommit"
   FROM outbox WHERE id > $1 AND created_at < now() - interval '5 s' ORDER BY id LIMIT ${MAX_ROWS}`,
);

/** The last row after which no transaction with a lower id goes on. */
const selectLast = defineStatement<{ last: number }>(
  'written_events_last',
  `SELECT coalesce(max(id), 0) AS last FROM outbox
   WHERE published_at IS NOT NULL
     AND age(xmin) > (SELECT age(pg_snapshot_xmin(pg_current_snapshot())::xid))`,
);

const selectDrawn = defineStatement<{ drawn: number }>(
  'written_events_drawn',
  `SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('outbox', 'id')::regclass), 0) AS drawn`,
);

/**
 * The rows up to the first one that may still change what is before it: a row that waits to be published, or one
 * after a gap in the ids that a transaction may still fill. So a position never passes an event unseen.
 */
export function stablePrefix(rows: readonly WrittenRow[], after: number): readonly WrittenRow[] {
  const lastPublished = new Map<number, number>();
  for (const { id, shard, published } of rows) if (published) lastPublished.set(shard, id);
  let before = after;
  const end = rows.findIndex((row) => {
    const { id, shard, ageSeconds, published } = row;
    const isAfterGap = isAfterOpenGap(row, before);
    before = id;
    if (isAfterGap) return true;
    const isOvertaken = ageSeconds >= OVERTAKEN_SECONDS && id < (lastPublished.get(shard) ?? 0);
    return !published && !isOvertaken;
  });
  return end === -1 ? rows : rows.slice(0, end);
}

/** Whether a transaction may still commit an id between `before` and that of the row. */
function isAfterOpenGap(row: WrittenRow, before: number): boolean {
  return row.id !== before + 1 && row.lowerIdsMayCommit;
}

export interface WrittenEventsOptions {
  readonly pool: pg.Pool;
  /**
   * Selects the ids of events that records say must exist, in their order: those after `$1` and up to `$2`, `$3` at
   * most, without events that wait in the outbox. The ids are UUIDs of version 7, which begin with their time.
   */
  readonly selectRecorded?: Statement<{ event_id: string }>;
}

/** The method by which consumers read what this service has written. */
export function outboxRoutes(options: WrittenEventsOptions): ServiceRoutes {
  return implement(OutboxService, {
    listWrittenEvents: ({ position }) => listWrittenEvents(options, position),
  });
}

async function listWrittenEvents(options: WrittenEventsOptions, from: string) {
  const { pool } = options;
  const recordedTo = firstIdOfTime(Date.now() - RECORDED_AGE_MS);
  if (from === '') {
    const [row] = await selectLast.run(pool);
    return { position: formatPosition(row?.last ?? 0, recordedTo) };
  }
  const { outboxId, recordedId } = parsePosition(from);
  const [rows, [sequence]] = await runPipeline(pool, [
    selectWritten.query([outboxId]),
    selectDrawn.query(),
  ]);
  if (rows.length === 0) assertDrawn(outboxId, sequence?.drawn ?? 0);
  const stable = stablePrefix(rows, outboxId);
  const eventIds = stable.map(({ eventId }) => eventId);
  const [first] = rows;
  const heldUpByTransaction =
    stable.length === 0 && first !== undefined && isAfterOpenGap(first, outboxId);
  const reached = stable.at(-1)?.id ?? outboxId;
  const isCutOff = rows.length === MAX_ROWS;
  const { selectRecorded } = options;
  // While events wait to be published, their records wait too. The clock may have stepped back.
  const mayReadRecords = !isCutOff && rows.every(({ published }) => published);
  if (selectRecorded === undefined || !mayReadRecords || recordedTo <= recordedId) {
    const hasMore = isCutOff && stable.length === rows.length;
    const position = formatPosition(reached, recordedId);
    return { eventIds, position, hasMore, heldUpByTransaction };
  }
  const recorded = await selectRecorded.run(pool, [recordedId, recordedTo, MAX_ROWS]);
  const hasMore = recorded.length === MAX_ROWS;
  const last = hasMore ? recorded.at(-1)?.event_id : undefined;
  return {
    eventIds: [...eventIds, ...recorded.map(({ event_id }) => event_id)],
    position: formatPosition(reached, last ?? recordedTo),
    hasMore,
    heldUpByTransaction,
  };
}

/**
 * Refuses a position above every id that was drawn: it is from before the database was restored from a backup. New
 * events get ids below it, and no part would have them. The sequence says which ids were drawn, because an outbox whose
 * events are all older than a week is empty.
 *
 * @throws Fault `invalid_position`
 */
function assertDrawn(outboxId: number, drawn: number): void {
  if (outboxId <= drawn) return;
  const message =
    'must not be above the ids of the outbox, which may have been restored from a backup';
  throw invalidFields('invalid_position', [{ pointer: '/position', message }]);
}

const formatPosition = (outboxId: number, recordedId: string) => `${outboxId}/${recordedId}`;

/** @throws Fault `invalid_position` */
function parsePosition(position: string): { outboxId: number; recordedId: string } {
  const [, outboxId, recordedId] = /^(\d{1,15})\/([\da-f-]{36})$/.exec(position) ?? [];
  if (outboxId === undefined || recordedId === undefined) {
    const message = 'must be the position of an earlier answer';
    throw invalidFields('invalid_position', [{ pointer: '/position', message }]);
  }
  return { outboxId: Number(outboxId), recordedId };
}

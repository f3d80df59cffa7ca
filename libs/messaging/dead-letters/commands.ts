/** The commands of operators for the dead letters of a consumer: list, show, handle again, give up. */
import type { JsonValue } from '@bufbuild/protobuf';
import { decodeEvent, toEventJson } from '@creditlane/events/topics';
import { defineStatement } from '@creditlane/postgres/statement';
import {
  type CommandContext,
  CommandOptionError,
  type CommandOptions,
  operatorOf,
  type ServiceCommand,
} from '@creditlane/service/service-command';
import { maskText, maskValue } from './masked-event.ts';
import { discardDeadLetter, requestRedrives } from './redrives.ts';

type Context = CommandContext<Record<never, never>>;

/** A page of the list. */
const MAX_LISTED = 100;
const MAX_REASON = 500;

const NOT_REDRIVABLE =
  'no dead letter has this number, or it is handled, has a redrive under way, its message has no id, or the relay tries it by itself';
const NOT_DISCARDABLE =
  'no dead letter has this number, or it is handled, or has a redrive under way';

export const DEAD_LETTER_COMMANDS: Readonly<Record<string, ServiceCommand<Record<never, never>>>> =
  {
    'dead-letters': {
      options: { after: { type: 'string' }, handled: { type: 'boolean' } },
      run: list,
    },
    'dead-letter': { options: { id: { type: 'string' } }, run: show },
    'redrive-dead-letters': {
      options: {
        id: { type: 'string' },
        all: { type: 'boolean' },
        type: { type: 'string' },
        by: { type: 'string' },
      },
      run: redrive,
    },
    'discard-dead-letter': {
      options: { id: { type: 'string' }, by: { type: 'string' }, reason: { type: 'string' } },
      run: discard,
    },
  };

interface ListedRow {
  id: number;
  consumer: string;
  topic: string;
  type: string | null;
  eventId: string | null;
  parkedAt: Date;
  handledAt: Date | null;
  /** Its first line. */
  reason: string;
  redrives: number;
}

const COLUMNS = `d.id, d.consumer, d.topic, d.headers ->> 'ce_type' AS type,
     d.headers ->> 'ce_id' AS "eventId", d.parked_at AS "parkedAt", d.handled_at AS "handledAt",
     (SELECT count(*) FROM dead_letter_redrives AS r WHERE r.dead_letter_id = d.id) AS redrives`;

const selectPage = defineStatement<ListedRow>(
  'dead_letters_list',
  `SELECT ${COLUMNS}, split_part(d.reason, E'\\n', 1) AS reason
   FROM dead_letters AS d WHERE d.id > $1 AND ($2 OR d.handled_at IS NULL) ORDER BY d.id LIMIT $3`,
);

/** Prints a page, oldest first, and the `--after` of the next page, if there is one. */
async function list({ database, print }: Context, options: CommandOptions): Promise<boolean> {
  const after = options.after === undefined ? 0 : idOf(options, 'after');
  const values = [after, options.handled === true, MAX_LISTED + 1];
  const rows = await selectPage.run(database.pool, values);
  const page = rows.slice(0, MAX_LISTED);
  for (const { type, eventId, ...row } of page) {
    print({ ...row, type: maskText(type ?? ''), eventId: maskText(eventId ?? '') });
  }
  print({ listed: page.length, ...(rows.length > page.length && { after: page.at(-1)?.id }) });
  return true;
}

interface DeadLetterRow extends ListedRow {
  key: string;
  headers: Record<string, string>;
  value: Uint8Array;
}

const selectOne = defineStatement<DeadLetterRow>(
  'dead_letter_find',
  `SELECT ${COLUMNS}, d.reason, d.key, d.headers, d.value FROM dead_letters AS d WHERE d.id = $1`,
);

const selectRedrives = defineStatement(
  'dead_letter_redrives_find',
  `SELECT requested_by AS "requestedBy", requested_at AS "requestedAt",
     finished_at AS "finishedAt", outcome, reason
   FROM dead_letter_redrives WHERE dead_letter_id = $1 ORDER BY id`,
);

/** Prints one dead letter with its event, masked, and its redrives. */
async function show({ database, print }: Context, options: CommandOptions): Promise<boolean> {
  const id = idOf(options, 'id');
  const [row] = await selectOne.run(database.pool, [id]);
  const redrives = await selectRedrives.run(database.pool, [id]);
  if (row === undefined) {
    // A dead letter that was handled long ago is deleted, and the record of its redrives stays.
    print({ id, found: false, redrives });
    return redrives.length > 0;
  }
  const { consumer, topic, type, eventId, parkedAt, handledAt, reason, key, headers, value } = row;
  print({
    ...{ id, consumer, topic, type: maskText(type ?? ''), eventId: maskText(eventId ?? '') },
    ...{ parkedAt, handledAt, reason, key: maskText(key), time: maskText(headers.ce_time ?? '') },
    bytes: value.byteLength,
    event: maskedEvent(headers, value),
    redrives,
  });
  return true;
}

/** Null for bytes that this version cannot decode: nothing tells what they contain. */
function maskedEvent(headers: Record<string, string>, value: Uint8Array): JsonValue {
  try {
    return maskValue(toEventJson(decodeEvent({ headers, value })));
  } catch {
    return null;
  }
}

/** Requests that the running consumer handles dead letters again, and prints the id of each. */
async function redrive({ database, print }: Context, options: CommandOptions): Promise<boolean> {
  const { type, all } = options;
  if ((options.id === undefined) === (all !== true)) {
    throw new CommandOptionError('either --id or --all must be given');
  }
  const filter = {
    id: options.id === undefined ? undefined : idOf(options, 'id'),
    type: type === undefined ? undefined : String(type),
  };
  const requested = await requestRedrives(database.pool, filter, operatorOf(options));
  for (const id of requested) print({ id, requested: true });
  if (filter.id !== undefined && requested.length === 0) {
    print({ id: filter.id, requested: false, problem: NOT_REDRIVABLE });
  }
  print({ requested: requested.length });
  return requested.length > 0 || all === true;
}

/** Gives one dead letter up, for good. */
async function discard({ database, print }: Context, options: CommandOptions): Promise<boolean> {
  const id = idOf(options, 'id');
  const requestedBy = operatorOf(options);
  const reason = String(options.reason ?? '').trim();
  if (reason === '' || reason.length > MAX_REASON) {
    throw new CommandOptionError(`--reason must be given, in at most ${MAX_REASON} characters`);
  }
  const discarded = await discardDeadLetter(database.pool, id, { requestedBy, reason });
  print({ id, discarded, ...(!discarded && { problem: NOT_DISCARDABLE }) });
  return discarded;
}

/** @throws CommandOptionError without the option, or when it is no number of a dead letter */
function idOf(options: CommandOptions, name: string): number {
  const text = String(options[name]);
  const value = Number(text);
  // An empty text, as an unset shell variable gives it, would be 0.
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) {
    throw new CommandOptionError(`--${name} must be given, as the number of a dead letter`);
  }
  return value;
}

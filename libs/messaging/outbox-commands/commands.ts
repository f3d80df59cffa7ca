/** The commands of operators for the outbox of a service: docs/operations/scaling-events.md and kafka-lost.md. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Migration } from '@creditlane/postgres/migrate';
import { CommandOptionError, type ServiceCommand } from '@creditlane/service/service-command';
import { holdPublishing } from './hold-publishing.ts';
import { MAX_SHARDS, raiseShards } from './raise-shards.ts';
import {
  parseRepublishTime,
  REPUBLISH_WAIT_MS,
  republishOutbox,
  TIME_RULE,
} from './republish-outbox.ts';

const MAX_HOLD_SECONDS = 3_600;
const MAX_WAIT_SECONDS = 600;
/** All events of 7 days change in one statement. */
const REPUBLISH_WITHIN_MS = 3_600_000;

/**
 * The commands of a service. Once shards were raised, versions without the migrations `floor`, which are no older than
 * the command, do not start: their relays would leave the new shards alone.
 */
export const outboxCommands = (
  floor: readonly Migration[],
): Readonly<Record<string, ServiceCommand<Record<never, never>>>> => ({
  'raise-shards': {
    options: { to: { type: 'string' } },
    async run({ database, print }, { to }) {
      const shards = readNumber('--to', to, MAX_SHARDS);
      await raiseShards(database.pool, shards, floor);
      print({ shards });
      return true;
    },
  },
  'hold-publishing': {
    options: { seconds: { type: 'string' } },
    async run({ database, print }, { seconds }) {
      const holdMs = readNumber('--seconds', seconds, MAX_HOLD_SECONDS) * 1_000;
      const onHeld = () => print({ publishing: 'held' });
      await holdPublishing(database.pool, { settleMs: REPUBLISH_WAIT_MS, holdMs, onHeld });
      print({ publishing: 'released' });
      return true;
    },
  },
  'republish-outbox': {
    options: { since: { type: 'string' }, 'wait-seconds': { type: 'string' } },
    statementTimeoutMs: REPUBLISH_WITHIN_MS,
    async run({ database, print }, { since: text, 'wait-seconds': seconds }) {
      const since = parseRepublishTime(String(text ?? ''));
      if (since === undefined) throw new CommandOptionError(`--since ${TIME_RULE}`);
      const waitMs =
        seconds === undefined
          ? REPUBLISH_WAIT_MS
          : readNumber('--wait-seconds', seconds, MAX_WAIT_SECONDS) * 1_000;
      const events = await republishOutbox(database.pool, since);
      print({ publishedAgain: events, since, waitMs });
      // A relay that has read its batch before may still publish it, before the events above.
      await delay(waitMs);
      print({ topics: 'can be created' });
      return true;
    },
  },
});

function readNumber(name: string, text: string | boolean | undefined, max: number): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1 && number <= max) return number;
  throw new CommandOptionError(`${name} must be a whole number from 1 to ${max}`);
}

/** The commands of operators for the outbox of a service: deploy/scaling-events.md. */
import { PUBLISH_TIMEOUT_MS } from '@creditlane/events/bus';
import type { Migration } from '@creditlane/postgres/migrate';
import { CommandOptionError, type ServiceCommand } from '@creditlane/service/service-command';
import { MAX_SHARDS, raiseShards } from './outbox-shards.ts';
import { holdPublishing } from './publishing-hold.ts';

/** A relay may be about to read a batch: it waits for the database for at most 10 s, and for the bus as long as a publish may take. */
const SETTLE_MS = 10_000 + PUBLISH_TIMEOUT_MS;
const MAX_HOLD_SECONDS = 3_600;

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
      await holdPublishing(database.pool, { settleMs: SETTLE_MS, holdMs, onHeld });
      print({ publishing: 'released' });
      return true;
    },
  },
});

function readNumber(name: string, text: string | boolean | undefined, max: number): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1 && number <= max) return number;
  throw new CommandOptionError(`${name} must be a whole number from 1 to ${max}`);
}

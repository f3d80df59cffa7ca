import { makeDaysSql } from '@creditlane/postgres/partitions/day-partitions';
import { enableRowSecuritySql, isInScopeSql } from '@creditlane/postgres/row-security/policies';
import { sqlMigration } from '@creditlane/postgres/sql-migration';
import { sinceReconciliation } from './0013-delivery-storage.ts';

const INDEXES = ['lane', 'due', 'hold', 'waiting', 'dead', 'age', 'by_destination'];

// Only the number is taken from the sequence that ends: it goes on where the earlier table's positions end.
const MOVE_POSITIONS = `DO $do$ DECLARE last bigint; BEGIN
    EXECUTE 'SELECT last_value FROM ' || pg_get_serial_sequence('deliveries_earlier', 'position') INTO last;
    EXECUTE 'CREATE SEQUENCE deliveries_position START ' || last + 1;
  END $do$`;

// A new installation, whose table is empty, has no table of an earlier version. It is read by its index, so that the
// statement takes the same time however many rows were deleted.
const ATTACH_EARLIER = `DO $do$ BEGIN
    SET LOCAL enable_seqscan = off;
    IF EXISTS (SELECT FROM (SELECT id FROM deliveries_earlier ORDER BY id LIMIT 1) AS first) THEN
      ALTER TABLE deliveries ATTACH PARTITION deliveries_earlier FOR VALUES IN ('earlier');
    ELSE
      DROP TABLE deliveries_earlier;
    END IF;
    SET LOCAL enable_seqscan = on;
  END $do$`;

// Policies name a table by its identity, not by its name.
const OF_MESSAGES = `CREATE POLICY scope ON messages
   USING (EXISTS (SELECT FROM deliveries WHERE deliveries.event_id = messages.event_id))`;
const OF_ATTEMPTS = `CREATE POLICY scope ON attempts
   USING (EXISTS (SELECT FROM deliveries WHERE deliveries.id = attempts.delivery_id))`;

/**
 * Deliveries are stored by `storage`: what is pending in the queue, whose rows are deleted when they end, and what has
 * ended in partitions by the day of its end, which are dropped as a whole. The earlier table becomes a partition as it
 * is: what is pending there ends from there.
 *
 * A replica of the earlier version goes on with the table of the same name. It leaves ended deliveries in the queue, from
 * where they are moved, and cannot replay those in the partitions by day, whose constraint refuses pending deliveries.
 */
export const deliveryQueue1765300000002 = sqlMigration('DeliveryQueue1765300000002', {
  up: [
    'ALTER TABLE deliveries RENAME TO deliveries_earlier',
    'ALTER INDEX deliveries_pkey RENAME TO deliveries_earlier_pkey',
    'ALTER INDEX deliveries_event_id_destination_id_key RENAME TO deliveries_earlier_event',
    ...INDEXES.map((it) => `ALTER INDEX deliveries_${it} RENAME TO deliveries_earlier_${it}`),
    MOVE_POSITIONS,
    'ALTER TABLE deliveries_earlier ALTER COLUMN position DROP IDENTITY, ALTER COLUMN position SET NOT NULL',
    `CREATE TABLE deliveries (
      id uuid NOT NULL,
      position bigint NOT NULL DEFAULT nextval('deliveries_position'),
      event_id uuid NOT NULL,
      destination_id uuid NOT NULL,
      application_id uuid NOT NULL,
      sequence bigint,
      state text NOT NULL,
      leased boolean NOT NULL,
      fence integer NOT NULL,
      attempts smallint NOT NULL DEFAULT 0,
      next_attempt_at timestamptz,
      holding boolean NOT NULL DEFAULT true,
      hold_until timestamptz,
      reason text,
      created_at timestamptz NOT NULL DEFAULT now(),
      settled_at timestamptz,
      replays smallint NOT NULL DEFAULT 0,
      earlier_attempts smallint NOT NULL DEFAULT 0,
      replayed_at timestamptz,
      storage text NOT NULL DEFAULT 'queue'
    ) PARTITION BY LIST (storage)`,
    // Small, however much has ended: dead rows are removed early and their space is used again. The pages are kept, so
    // that an empty queue does not look to the planner as if reading it whole were cheapest.
    `CREATE TABLE deliveries_queue PARTITION OF deliveries (
      CHECK (state IN ('waiting', 'due', 'delivered', 'dead'))
    ) FOR VALUES IN ('queue') WITH (fillfactor = 70, vacuum_truncate = off,
      autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0,
      autovacuum_analyze_scale_factor = 0.1, autovacuum_analyze_threshold = 2000)`,
    'ALTER TABLE deliveries_queue ADD CONSTRAINT deliveries_queue_pkey PRIMARY KEY (id)',
    'CREATE UNIQUE INDEX deliveries_queue_event ON deliveries_queue (event_id, destination_id)',
    'CREATE INDEX deliveries_lane ON deliveries_queue (application_id, destination_id, position)',
    'CREATE INDEX deliveries_by_destination ON deliveries_queue (destination_id, state, created_at, id)',
    // Leased deliveries have an index of their own, so that a delivery that is sent at once never enters that of the due
    // ones: a snapshot that is kept open for long keeps all entries, and each claim would read those of the past.
    `CREATE INDEX deliveries_due ON deliveries_queue (destination_id, next_attempt_at)
     WHERE state = 'due' AND NOT leased`,
    `CREATE INDEX deliveries_leased ON deliveries_queue (next_attempt_at) WHERE state = 'due' AND leased`,
    `CREATE INDEX deliveries_hold ON deliveries_queue (hold_until)
     WHERE state = 'due' AND holding AND hold_until IS NOT NULL`,
    `CREATE INDEX deliveries_waiting ON deliveries_queue (created_at) WHERE state = 'waiting'`,
    `CREATE INDEX deliveries_to_move ON deliveries_queue (id) WHERE state IN ('delivered', 'dead')`,
    `CREATE TABLE deliveries_ended PARTITION OF deliveries (
      settled_at NOT NULL,
      CHECK (state IN ('delivered', 'dead'))
    ) FOR VALUES IN ('ended') PARTITION BY RANGE (settled_at)`,
    'CREATE INDEX ON deliveries_ended (id)',
    'CREATE INDEX ON deliveries_ended (event_id)',
    'CREATE INDEX ON deliveries_ended (application_id, destination_id)',
    'CREATE INDEX ON deliveries_ended (destination_id, state, created_at, id)',
    `CREATE INDEX ON deliveries_ended (id) WHERE state = 'dead'`,
    'CREATE TABLE deliveries_ended_default PARTITION OF deliveries_ended DEFAULT',
    'CREATE INDEX ON deliveries_ended_default (settled_at)',
    makeDaysSql({ table: 'deliveries_ended', key: 'timestamptz' }, 0),
    'ALTER SEQUENCE deliveries_position OWNED BY deliveries.position',
    ...enableRowSecuritySql('deliveries', {
      rows: isInScopeSql('destination_id', 'destinations'),
      privileges: 'SELECT, INSERT, UPDATE, DELETE',
    }),
    ...['messages', 'attempts'].map((table) => `DROP POLICY scope ON ${table}`),
    OF_MESSAGES,
    OF_ATTEMPTS,
    ATTACH_EARLIER,
  ],
  compatibility: sinceReconciliation,
});

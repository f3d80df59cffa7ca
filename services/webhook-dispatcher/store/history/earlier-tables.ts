/**
 * The tables of an earlier version, from before there were partitions of days: they are dropped once all of their rows are
 * past retention. The comment of each says when it was replaced.
 */
import type { EarlierTable } from '@creditlane/postgres/partitions/earlier-tables';
import { defineStatement } from '@creditlane/postgres/statement';
import { firstIdOfTime } from '@creditlane/runtime/ids';
import type { Log } from '@creditlane/runtime/telemetry/log';

const DAY_MS = 86_400_000;
/** The retention, and a day for replicas of the earlier version that ran on, and for clocks that differ. */
const KEPT_MS = 31 * DAY_MS;

/** SQL that returns rows while there are attempts or messages of deliveries that were made before the table was replaced. */
const deliveriesBefore = (replacedMs: number) =>
  `SELECT FROM deliveries WHERE id < '${firstIdOfTime(replacedMs + DAY_MS)}'`;

const PENDING = `(SELECT FROM deliveries_earlier WHERE state = 'waiting' LIMIT 1)
  UNION ALL (SELECT FROM deliveries_earlier WHERE state = 'due' LIMIT 1)`;

const selectReplacedAt = defineStatement<{ at: Date | null }>(
  'earlier_table_replaced',
  `SELECT CASE WHEN pg_input_is_valid(comment, 'timestamptz') THEN comment::timestamptz END AS at
   FROM to_regclass($1::text) AS name, obj_description(name, 'pg_class') AS comment WHERE name IS NOT NULL`,
);

export function earlierTables(log: Log): EarlierTable[] {
  const define = (parent: string, keptBySql: (replacedMs: number) => string): EarlierTable => {
    const name = `${parent}_earlier`;
    return {
      name,
      parent,
      // A restore may leave the comment out: without it the table would be kept for ever.
      async beginRetention(pool) {
        const [replaced] = await selectReplacedAt.run(pool, [name]);
        if (replaced === undefined || replaced.at !== null) return;
        await pool.query(`COMMENT ON TABLE ${name} IS '${new Date().toISOString()}'`);
        log.warn({ table: name }, 'the comment of the table has no date; its retention begins now');
      },
      async isKept(db) {
        const [replaced] = await selectReplacedAt.run(db, [name]);
        // Without a row, another replica has dropped the table meanwhile.
        if (!replaced?.at) return true;
        const replacedMs = replaced.at.getTime();
        if (Date.now() < replacedMs + KEPT_MS) return true;
        return (await db.query(`${keptBySql(replacedMs)} LIMIT 1`)).rows.length > 0;
      },
    };
  };
  return [
    define('deliveries', () => PENDING),
    // Some of the deliveries have left their earlier table.
    define('attempts', deliveriesBefore),
    define('messages', deliveriesBefore),
  ];
}

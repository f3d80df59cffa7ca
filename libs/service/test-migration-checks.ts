/** For the tests of services: whether a migration does what it says, and makes no statement of others wait. */
import type { Migration } from '@creditlane/postgres/migrate';

type QueryRunner = Parameters<InstanceType<Migration>['up']>[0];

/** The tables of the schema, with what no migration may take away that only adds. */
const SELECT_SCHEMA = `
  WITH tables AS (
    SELECT oid, relname AS name, relacl, relrowsecurity FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND relname <> 'migrations'
  )
  SELECT name AS "table", part FROM tables CROSS JOIN LATERAL (
    SELECT format('column %s %s%s %s', attname, format_type(atttypid, atttypmod),
      CASE WHEN attnotnull THEN ' not null' END,
      coalesce(pg_get_expr(adbin, adrelid), nullif(attidentity::text, ''))) AS part
    FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE attrelid = tables.oid AND attnum > 0 AND NOT attisdropped
    UNION ALL SELECT 'constraint ' || pg_get_constraintdef(c.oid) FROM pg_constraint AS c
    WHERE conrelid = tables.oid AND contype <> 'n'
    UNION ALL SELECT 'index ' || pg_get_indexdef(indexrelid) FROM pg_index
    WHERE indrelid = tables.oid
    UNION ALL SELECT 'trigger ' || pg_get_triggerdef(t.oid) FROM pg_trigger AS t
    WHERE tgrelid = tables.oid AND NOT tgisinternal
    UNION ALL SELECT format('policy %s %s %s', polname, pg_get_expr(polqual, polrelid),
      pg_get_expr(polwithcheck, polrelid)) FROM pg_policy WHERE polrelid = tables.oid
    UNION ALL SELECT format('privilege %s %s', grantee, privilege_type)
    FROM aclexplode(tables.relacl)
    UNION ALL SELECT 'row security' WHERE relrowsecurity
  ) AS parts`;

/** What may make a write of an earlier version fail when a migration adds it to a table that exists. */
const RESTRICTS = /^(column .* not null $|trigger|row security)/;
/** The same when it is about a column that exists, to which earlier versions write. */
const RESTRICTS_COLUMNS = /^(constraint|index CREATE UNIQUE)/;

interface Part {
  table: string;
  part: string;
}

/**
 * The migration, with checks: it says which earlier versions can use the database afterwards, it only adds if it says
 * so, and it reads no rows of tables that existed before, while others wait for it. Findings are added to `findings`.
 */
export function withChecks(Checked: Migration, findings: string[]): Migration {
  const { name = Checked.name, compatibility, transaction } = new Checked();
  const find = (finding: string) => void findings.push(`${name} ${finding}`);
  if (compatibility === undefined)
    find('does not say which versions can use the database after it');
  return class extends Checked {
    override async up(runner: QueryRunner): Promise<void> {
      const before: Part[] = await runner.query(SELECT_SCHEMA);
      const scansBefore = await countScans(runner);
      await super.up(runner);
      if (transaction !== false) {
        for (const [table, scans] of await countScans(runner)) {
          // A new table is not there before.
          const isRead = scans > (scansBefore.get(table) ?? Number.POSITIVE_INFINITY);
          if (isRead) find(`reads ${table} while it holds its locks`);
        }
      }
      if (compatibility !== 'only adds') return;
      const after: Part[] = await runner.query(SELECT_SCHEMA);
      for (const { table, part } of before.filter((it) => !isIn(it, after))) {
        find(`takes from ${table}: ${part}`);
      }
      for (const added of after.filter((it) => !isIn(it, before))) {
        if (isRestriction(added, before)) find(`restricts ${added.table}: ${added.part}`);
      }
    }
  };
}

const isIn = ({ table, part }: Part, parts: readonly Part[]) =>
  parts.some((it) => it.table === table && it.part === part);

function isRestriction({ table, part }: Part, before: readonly Part[]): boolean {
  const existing = before.filter((it) => it.table === table);
  if (existing.length === 0) return false;
  const columns = existing.flatMap((it) => /^column (\w+)/.exec(it.part)?.[1] ?? []);
  // A foreign key also names a table and the columns there.
  const own = part.replace(/ REFERENCES .*| ON \S+ USING/, '');
  const isAboutExisting = columns.some((column) => new RegExp(`\\b${column}\\b`).test(own));
  return RESTRICTS.test(part) || (RESTRICTS_COLUMNS.test(part) && isAboutExisting);
}

/** How often each table was read from end to end so far, as constraints, indexes and changed types do. */
async function countScans(runner: QueryRunner): Promise<Map<string, number>> {
  const rows: { relname: string; seq_scan: string }[] = await runner.query(
    'SELECT relname, seq_scan FROM pg_stat_xact_user_tables',
  );
  return new Map(rows.map(({ relname, seq_scan }) => [relname, Number(seq_scan)]));
}

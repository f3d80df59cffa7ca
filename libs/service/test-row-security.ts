/** For the tests of services: what PostgreSQL's row security leaves to requests, table by table. */
import { randomUUID } from 'node:crypto';
import type { RowScope } from '@creditlane/postgres/row-security/request-pool';
import type { TestDatabase } from '@creditlane/postgres/test-database';
import { inTransaction } from '@creditlane/postgres/transaction';

/** PostgreSQL's code when a policy refuses a row that a statement would leave behind. */
const REFUSED_BY_POLICY = '42501';
const FOREIGN_KEY_VIOLATION = '23503';
/** The code of a trigger that refuses to change or delete a row, such as a record of an audit log. */
const RESTRICT_VIOLATION = '23001';

/**
 * The tables that are not under row security, each with what requests may do with it, such as INSERT. A partition counts
 * when requests may do anything with it by its own name.
 */
export async function listUnsecuredTables({
  sql,
  requestRole,
}: TestDatabase): Promise<Record<string, string[]>> {
  const { rows } = await sql.query<{ name: string; privileges: string[] }>(
    `SELECT relname AS name, ARRAY(SELECT privilege_type::text FROM aclexplode(relacl)
       WHERE grantee IN (0, $1::regrole) ORDER BY 1) AS privileges
     FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f')
       AND NOT relrowsecurity AND (NOT relispartition OR EXISTS (
         SELECT FROM aclexplode(relacl) WHERE grantee IN (0, $1::regrole)))`,
    [requestRole],
  );
  return Object.fromEntries(rows.map(({ name, privileges }) => [name, privileges]));
}

/** The columns of a table that requests may change. Before `findBreaches`, which gives requests every privilege. */
export async function listUpdatedColumns(
  { sql, requestRole }: TestDatabase,
  table: string,
): Promise<string[]> {
  const { rows } = await sql.query<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped
       AND has_column_privilege($2, attrelid, attnum, 'UPDATE') ORDER BY attnum`,
    [table, requestRole],
  );
  return rows.map(({ name }) => name);
}

/** The parties of a submission. */
interface Parties {
  creditorId: string;
  retailerId: string;
}

/**
 * `findBreaches` for the creditors or the retailers of two submissions.
 *
 * @param submit makes a submission that has rows in every table under row security, some for this caller
 */
export async function findBreachesBetween(
  side: 'creditors' | 'retailers',
  database: TestDatabase,
  submit: (callerId: string) => Promise<Parties>,
): Promise<string[]> {
  const scopeOfNew = async (): Promise<RowScope> => {
    const callerId = randomUUID();
    const { creditorId, retailerId } = await submit(callerId);
    return { [side]: [side === 'creditors' ? creditorId : retailerId], callers: [callerId] };
  };
  return findBreaches(database, { own: await scopeOfNew(), foreign: await scopeOfNew() });
}

/** Two tenants, each with rows in every table under row security. */
interface TwoTenants {
  own: RowScope;
  foreign: RowScope;
}

/**
 * What a request of one tenant can do with the rows of the other, by statements without any filter, as if
 * requests had every privilege. A finding is a breach of the isolation, or a table in which a tenant has no
 * row, so that the table shows nothing.
 */
export async function findBreaches(database: TestDatabase, tenants: TwoTenants): Promise<string[]> {
  const { rows } = await database.sql.query<Table>(
    `SELECT relname AS name, ARRAY(SELECT attname::text FROM pg_attribute
       WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped AND attidentity <> 'a'
       ORDER BY attnum) AS columns
     FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND relrowsecurity`,
  );
  const findings: string[] = [];
  for (const table of rows) {
    await database.sql.query(`GRANT ALL ON ${table.name} TO ${database.requestRole}`);
    const found = await findBreachesOf(database, table, tenants);
    findings.push(...found.map((finding) => `${table.name}: ${finding}`));
  }
  return findings;
}

interface Table {
  name: string;
  /** The columns that a statement may set. */
  columns: string[];
}

async function findBreachesOf(
  database: TestDatabase,
  { name: table, columns: [column, ...others] }: Table,
  { own, foreign }: TwoTenants,
): Promise<string[]> {
  const run = (scope: RowScope, text: string, values: unknown[] = []) =>
    outcomeOf(database.requests.within(scope), text, values);
  const select = `SELECT ctid::text AS place, to_jsonb(t) AS row FROM ${table} AS t`;
  const ownRows = await run(own, select);
  const foreignRows = await run(foreign, select);
  const [ownRow, foreignRow] = [ownRows.rows[0], foreignRows.rows[0]];
  if (ownRow === undefined || foreignRow === undefined) return ['a tenant has no row'];

  const findings: string[] = [];
  const expect = (holds: boolean, finding: string) => {
    if (!holds) findings.push(finding);
  };
  const ownPlaces = new Set(ownRows.rows.map(({ place }) => place));
  const isDisjoint = foreignRows.rows.every(({ place }) => !ownPlaces.has(place));
  expect(isDisjoint, 'both tenants read the same row');
  expect((await run({}, select)).rows.length === 0, 'a request without a scope reads rows');

  const update = `UPDATE ${table} SET ${column} = ${column}`;
  expect((await run({}, update)).count === 0, 'a request without a scope changes rows');
  const isOwnOrRefused = ({ count, code = '' }: StatementOutcome) =>
    count === ownPlaces.size ||
    [FOREIGN_KEY_VIOLATION, RESTRICT_VIOLATION, REFUSED_BY_POLICY].includes(code);
  expect(isOwnOrRefused(await run(own, update)), 'a tenant changes other rows than its own');
  const deleted = await run(own, `DELETE FROM ${table}`);
  expect(isOwnOrRefused(deleted), 'a tenant deletes other rows than its own');

  const columns = [column, ...others].join(', ');
  const selectGiven = `SELECT ${columns} FROM jsonb_populate_record(NULL::${table}, $1)`;
  const copy = `INSERT INTO ${table} (${columns}) ${selectGiven}`;
  const inserted = await run(own, copy, [foreignRow.row]);
  expect(inserted.code === REFUSED_BY_POLICY, "a tenant inserts the other tenant's row");
  const insertedAsNobody = await run({}, copy, [ownRow.row]);
  expect(insertedAsNobody.code === REFUSED_BY_POLICY, 'a request without a scope inserts a row');
  // Of all own rows: the service may have written the one that was read meanwhile, which is then at another place.
  const turn = `UPDATE ${table} SET (${columns}) = (${selectGiven})`;
  const given = await run(own, turn, [foreignRow.row]);
  // A trigger is asked before the policy.
  const isRefused = [REFUSED_BY_POLICY, RESTRICT_VIOLATION].includes(given.code ?? '');
  expect(isRefused, "a tenant turns its row into the other tenant's");
  return findings;
}

interface StatementOutcome {
  rows: { place: string; row: Record<string, unknown> }[];
  /** The number of rows that the statement changed; null when it failed. */
  count: number | null;
  /** The code of PostgreSQL's error; undefined without one. */
  code?: string | undefined;
}

class RolledBack extends Error {}

/** Runs a statement in a transaction that is rolled back. */
async function outcomeOf(
  scoped: Parameters<typeof inTransaction>[0],
  text: string,
  values: unknown[],
): Promise<StatementOutcome> {
  const outcome: StatementOutcome = { rows: [], count: null };
  try {
    await inTransaction(scoped, async (tx) => {
      const { rows, rowCount } = await tx.query(text, values);
      Object.assign(outcome, { rows, count: rowCount });
      throw new RolledBack();
    });
  } catch (error) {
    if (!(error instanceof RolledBack)) outcome.code = (error as { code?: string }).code;
  }
  return outcome;
}

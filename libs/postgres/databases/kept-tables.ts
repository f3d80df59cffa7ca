/**
 * Tables that a service fills and may not change afterwards, such as an audit log. They belong to the keeper of the database,
 * a role that cannot log in, and that the service cannot act as: neither the service nor whoever has its password takes a
 * record away, disables a trigger or drops the table.
 *
 * PostgreSQL's administrator makes the keeper, gives it the schema, whose owner could drop the tables, and makes a function by
 * which the service hands a table over. There is no way back, so what changes such a table is run by the administrator, too.
 */
import type { Log } from '@creditlane/runtime/telemetry/log';
import type pg from 'pg';
import { VerifyingClient } from '../connection/verifying-client.ts';
import { LOCK_WAIT_MS, whenUnlocked } from '../lock-wait.ts';

const SUFFIX = '_keeper';

/** The name of a database's keeper. */
export function keeperOf(database: string): string {
  return database + SUFFIX;
}

/**
 * The service keeps what it could do with the rows, without DELETE and TRUNCATE, and sees all of them under row security, as
 * their owner did. The functions of triggers go with the table.
 */
const KEEP_TABLE = `
CREATE OR REPLACE FUNCTION public.keep_table(kept text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $keep$
DECLARE
  keeper CONSTANT name := current_database() || '${SUFFIX}';
  place CONSTANT regclass := to_regclass(format('public.%I', kept));
  service name;
  secured boolean;
  privileges text;
  called regprocedure;
BEGIN
  SELECT rolname, relrowsecurity INTO service, secured
  FROM pg_class JOIN pg_roles ON pg_roles.oid = relowner WHERE pg_class.oid = place;
  IF service IS NULL OR service = keeper THEN RETURN; END IF;
  SELECT string_agg(privilege_type, ', ') INTO privileges
  FROM pg_class CROSS JOIN aclexplode(coalesce(relacl, acldefault('r', relowner)))
  WHERE pg_class.oid = place AND grantee = relowner AND privilege_type IN ('SELECT', 'INSERT', 'UPDATE');
  FOR called IN SELECT DISTINCT tgfoid FROM pg_trigger WHERE tgrelid = place AND NOT tgisinternal LOOP
    EXECUTE format('ALTER FUNCTION %s OWNER TO %I', called, keeper);
  END LOOP;
  EXECUTE format('ALTER TABLE %s OWNER TO %I', place, keeper);
  EXECUTE format('GRANT %s ON %s TO %I', privileges, place, service);
  IF secured THEN
    EXECUTE format('CREATE POLICY service ON %s TO %I USING (true)', place, service);
  END IF;
END $keep$`;

/**
 * Makes the keeper of a database where it is missing, as an administrator who is connected to the database. Repeating it
 * changes nothing. Rejects with PostgreSQL's error for a user who may not.
 */
export async function ensureKeeper(admin: pg.Client, database: string): Promise<void> {
  const [keeper, service] = [keeperOf(database), database].map((it) => admin.escapeIdentifier(it));
  const { rowCount } = await admin.query('SELECT FROM pg_roles WHERE rolname = $1', [
    keeperOf(database),
  ]);
  if (rowCount === 0) await admin.query(`CREATE ROLE ${keeper} NOLOGIN`);
  await admin.query('BEGIN');
  // Only a superuser or a member gives something to a role, or may change what it has.
  await admin.query(`GRANT ${keeper} TO CURRENT_USER WITH SET TRUE, INHERIT TRUE`);
  await admin.query(`ALTER SCHEMA public OWNER TO ${keeper}`);
  await admin.query(`GRANT USAGE, CREATE ON SCHEMA public TO ${service}`);
  await admin.query(KEEP_TABLE);
  await admin.query('REVOKE ALL ON FUNCTION public.keep_table(text) FROM PUBLIC');
  await admin.query(`GRANT EXECUTE ON FUNCTION public.keep_table(text) TO ${service}`);
  await admin.query('COMMIT');
}

const UNKEPT =
  'the role of the service owns tables that it must not change: run libs/postgres/make-databases.ts, and start the service again';

/**
 * Hands these tables over to the keeper, if they belong to the service still, once no transaction uses them. Where the database
 * has no keeper, warns, and the tables stay.
 */
export async function handOverTables(
  url: string,
  tables: readonly string[],
  log: Log,
): Promise<void> {
  if (tables.length === 0) return;
  const client = new VerifyingClient({ connectionString: url });
  client.on('error', () => undefined); // The query under way reports it.
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string; hasKeeper: boolean }>(
      `SELECT relname AS name, to_regprocedure('public.keep_table(text)') IS NOT NULL AS "hasKeeper"
       FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relname = ANY ($1)
         AND pg_has_role(relowner, 'USAGE') ORDER BY relname`,
      [tables],
    );
    const own = rows.map(({ name }) => name);
    if (own.length === 0) return;
    if (!rows[0]?.hasKeeper) return log.warn({ tables: own }, UNKEPT);
    await client.query(`SET lock_timeout = ${LOCK_WAIT_MS}`);
    for (const name of own) {
      await whenUnlocked(() => client.query('SELECT public.keep_table($1)', [name]));
    }
    log.info({ tables: own }, 'tables belong to the keeper of the database now');
  } finally {
    await client.end().catch(() => undefined);
  }
}

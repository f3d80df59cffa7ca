/** For the tests of secrecy: everything that a database holds, as text to search in. */
import type pg from 'pg';

/** Every row of every table; bytes also as text, one character for each. */
export async function dumpTables(sql: pg.Pool): Promise<string> {
  const { rows: tables } = await sql.query<{ name: string }>(
    `SELECT oid::regclass::text AS name FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`,
  );
  const dumps = tables.map(async ({ name }) => {
    const { rows } = await sql.query(`SELECT * FROM ${name}`);
    const bytes = rows.flatMap((row) => Object.values(row).filter(Buffer.isBuffer));
    return JSON.stringify(rows) + bytes.map((it) => it.toString('latin1')).join('\n');
  });
  return (await Promise.all(dumps)).join('\n');
}

import pg from 'pg';

/** Runs one statement on a connection of its own and returns the rows. */
export async function runSql(
  url: string,
  text: string,
  values: unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query(text, values);
    return rows;
  } finally {
    await client.end();
  }
}

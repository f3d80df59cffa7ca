import pg from 'pg';
import { eventually } from './eventually.ts';

/** pg's message when a connection ends without an error of PostgreSQL. */
const CUT_OFF = 'Connection terminated unexpectedly';

/**
 * Connects, and tries again when PostgreSQL has cut the attempt off, as services do: it permits an attempt five
 * seconds, which a machine that starts several processes at once may exceed.
 */
export function connect(url: string): Promise<pg.Client> {
  return eventually('connection to PostgreSQL', async () => {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined); // The query under way rejects with the same error.
    try {
      await client.connect();
      return client;
    } catch (error) {
      if (error instanceof Error && error.message === CUT_OFF) return undefined;
      throw error;
    }
  });
}

/** Runs one statement on a new connection: a fault may have broken every older one. */
export async function runSql<Row extends object = Record<string, unknown>>(
  url: string,
  statement: string | pg.QueryConfig,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = await connect(url);
  try {
    return (await client.query<Row>(statement, values)).rows;
  } finally {
    await client.end();
  }
}

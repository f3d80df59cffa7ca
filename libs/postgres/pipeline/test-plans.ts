/** How PostgreSQL runs a statement of a service. */
import type pg from 'pg';
import type { Queryable } from '../connection/queryable.ts';
import { capturingClient } from './test-capturing-client.ts';

/** Runs a statement with the plan for its own values or for any, and returns the plan as text. */
export async function planOf(
  client: pg.ClientBase,
  run: (db: Queryable) => Promise<unknown>,
  planFor: 'own' | 'any',
): Promise<string> {
  let plan = '';
  const explaining = capturingClient(async ({ text, values }) => {
    await client.query('BEGIN');
    const mode = planFor === 'own' ? 'force_custom_plan' : 'force_generic_plan';
    await client.query(`SET LOCAL plan_cache_mode = ${mode}`);
    // As the service's own connections.
    await client.query('SET LOCAL enable_seqscan = off');
    await client.query(`PREPARE listed AS ${text}`);
    const literals = values.map((value) => (value === null ? 'NULL' : `'${value}'`));
    const { rows } = await client.query(
      `EXPLAIN (ANALYZE) EXECUTE listed (${literals.join(', ')})`,
    );
    await client.query('ROLLBACK');
    await client.query('DEALLOCATE ALL');
    plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  });
  await run(explaining);
  return plan;
}

/** The rows that each node read for nothing: those that it did not return because of a filter. */
export function rowsFilteredOut(plan: string): number {
  const removed = [...plan.matchAll(/Rows Removed by Filter: (\d+)/g)];
  return removed.reduce((sum, [, rows]) => sum + Number(rows), 0);
}

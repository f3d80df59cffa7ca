import { runSql } from './sql.ts';

/** Vacuums and analyzes each database. Otherwise autovacuum, which follows many writes, counts for what is measured next. */
export async function vacuumAll(databaseUrls: Readonly<Record<string, string>>): Promise<void> {
  for (const url of Object.values(databaseUrls)) await runSql(url, 'VACUUM (ANALYZE)');
}

import { runSql } from './sql.ts';

/** The process id of the PostgreSQL server at this superuser's URL, which runs on this machine. */
export async function readServerPid(adminUrl: string): Promise<number> {
  const [server] = await runSql(
    adminUrl,
    "SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int AS pid",
  );
  return Number(server?.pid);
}

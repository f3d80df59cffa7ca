/** The modes of the locks on the table $1 that statements wait for; those of the server's other databases do not count. */
export const AWAITED_LOCKS_SQL = `SELECT mode FROM pg_locks WHERE NOT granted AND relation = $1::regclass
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

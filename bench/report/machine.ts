import { cpus, release, totalmem, type } from 'node:os';
import { runSql } from '../data/sql.ts';

/** The machine and the versions of the programs: figures of different machines cannot be compared. */
export interface Machine {
  cpu: string;
  cores: number;
  memoryGib: number;
  system: string;
  node: string;
  postgres: string;
  fsync: string;
}

/** Reads the machine's description from the system and from the PostgreSQL server at `adminUrl`. */
export async function describeMachine(adminUrl: string): Promise<Machine> {
  const [server] = await runSql(
    adminUrl,
    `SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync`,
  );
  const processors = cpus();
  return {
    cpu: processors[0]?.model.trim() ?? 'unknown',
    cores: processors.length,
    memoryGib: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    node: process.version,
    postgres: String(server?.version),
    fsync: String(server?.fsync),
  };
}

/** The description in one line. */
export function formatMachine({ cpu, cores, memoryGib, system, ...programs }: Machine): string {
  const { node, postgres, fsync } = programs;
  return `${cores} × ${cpu}, ${memoryGib} GiB, ${system}, Node ${node}, PostgreSQL ${postgres}, fsync ${fsync}`;
}

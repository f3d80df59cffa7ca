import { cpus, release, totalmem, type } from 'node:os';
import { run } from '../data/submissions.ts';

/** The machine and the programs on it: without them a figure says nothing. */
export interface Machine {
  cpu: string;
  cores: number;
  memoryGib: number;
  system: string;
  node: string;
  postgres: string;
  fsync: string;
}

/** Asks the system, and the PostgreSQL at `adminUrl`. */
export async function describeMachine(adminUrl: string): Promise<Machine> {
  const [server] = await run(
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

/** For people, in one line. */
export function machineLine({ cpu, cores, memoryGib, system, ...programs }: Machine): string {
  const { node, postgres, fsync } = programs;
  return `${cores} × ${cpu}, ${memoryGib} GiB, ${system}, Node ${node}, PostgreSQL ${postgres}, fsync ${fsync}`;
}

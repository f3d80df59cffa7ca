/** Finds and stops the PostgreSQL server of a data directory, including a server that another process started. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing } from '@creditlane/supervision/missing-file';
import { exitsWithin, type ProcessIdentity, sendSignal } from '@creditlane/supervision/pid-file';
import { readProcess } from '@creditlane/supervision/process-info';

/**
 * A fast shutdown (SIGINT) writes a checkpoint, which takes seconds with a full cache on a slow disk.
 * After an immediate one (SIGQUIT) the next start repairs the cluster from its log.
 */
export const STOP_SIGNALS = [
  { signal: 'SIGINT', waitMs: 15_000 },
  { signal: 'SIGQUIT', waitMs: 5_000 },
] as const;

/** Within this time a server has ended: after the last of the signals it is killed. */
export const STOP_WITHIN_MS = STOP_SIGNALS.reduce((sum, { waitMs }) => sum + waitMs, 1_000);

export interface Postmaster extends ProcessIdentity {
  parentPid: number;
  port: number;
}

/**
 * The running server of a cluster, found by its postmaster.pid; "stale" when the process that the
 * file names is no server of this cluster; undefined when no process is running.
 */
export async function findPostmaster(cluster: string): Promise<Postmaster | 'stale' | undefined> {
  let text: string;
  try {
    text = await readFile(join(cluster, 'postmaster.pid'), 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  // The first lines: process, data directory, time of the start, port.
  const [pid = 0, , , port = 0] = text.split('\n').map(Number);
  const found = pid > 0 ? await readProcess(pid) : undefined;
  if (found === undefined) return undefined;
  const { command, parentPid, startTime } = found;
  return command.includes(cluster) ? { pid, parentPid, startTime, port } : 'stale';
}

/** Stops a server, and resolves to whether it has ended. Throws when the system permits no signal. */
export async function stopPostmaster(postmaster: ProcessIdentity): Promise<boolean> {
  for (const { signal, waitMs } of STOP_SIGNALS) {
    if (!(await sendSignal(postmaster, signal))) return true;
    if (await exitsWithin(postmaster, waitMs)) return true;
  }
  return false;
}

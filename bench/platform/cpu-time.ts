/** The processor time of processes, as Linux accounts for it. */
import { readdir, readFile } from 'node:fs/promises';

/** The kernel's USER_HZ, the same on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

interface Account {
  parentPid: number;
  ticks: number;
  /** Of children that have ended and were waited for. */
  childTicks: number;
}

/** Milliseconds of CPU, by a name of the process. */
export type CpuTimes = Record<string, number>;

/**
 * What each of the processes and all their descendants have used so far, those that have ended
 * included; of a process below another one, that one's too. Undefined on a system without /proc.
 */
export async function cpuTimes(pids: Record<string, number>): Promise<CpuTimes | undefined> {
  const accounts = await readAccounts();
  if (accounts.size === 0) return undefined;
  const timeOf = (root: number) => {
    let ticks = 0;
    for (const [pid, account] of accounts) {
      if (descends(pid, root, accounts)) ticks += account.ticks + account.childTicks;
    }
    return (ticks * 1000) / TICKS_PER_SECOND;
  };
  return Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, timeOf(pid)]));
}

function descends(pid: number, root: number, accounts: ReadonlyMap<number, Account>): boolean {
  for (let at: number | undefined = pid; at; at = accounts.get(at)?.parentPid) {
    if (at === root) return true;
  }
  return false;
}

async function readAccounts(): Promise<Map<number, Account>> {
  const names = await readdir('/proc').catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const accounts = new Map<number, Account>();
  for (const pid of pids) {
    // One that has ended meanwhile is in its parent's account.
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
    if (stat === undefined) continue;
    // The name in parentheses may hold anything; the fields after it are numbers from the third on.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [, parentPid = 0] = fields.map(Number);
    const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11).map(Number);
    accounts.set(pid, { parentPid, ticks: user + system, childTicks: childUser + childSystem });
  }
  return accounts;
}

/** The Creditlane that a run does things to: started as a person starts it, on a data directory of its own. */
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Demo, ServiceAddress } from '@creditlane/local/demo';
import { readJson } from '@creditlane/local/json-file';
import type { Secrets } from '@creditlane/platform/secrets';
import type { DatabaseOwner } from '@creditlane/platform/services';
import { eventually } from '../platform/eventually.ts';
import { LocalPlatform, type Start } from '../platform/launched-platform.ts';
import { databaseUrl } from './database-state.ts';

/** How it is started. */
interface Plan {
  start: Start;
  args: string[];
  env: NodeJS.ProcessEnv;
}

const READY_WITHIN_MS = 120_000;

export class Subject {
  readonly dataDir: string;
  readonly #plan: Plan;
  #laptop: LocalPlatform;
  #demo: Demo;

  private constructor(dataDir: string, plan: Plan, laptop: LocalPlatform, demo: Demo) {
    this.dataDir = dataDir;
    this.#plan = plan;
    this.#laptop = laptop;
    this.#demo = demo;
  }

  /** Resolves once it is ready; on a fresh data directory. */
  static async start({ start = 'local/main.ts', args = [], env = {} }: Partial<Plan> = {}) {
    const dataDir = await mkdtemp(join(tmpdir(), 'creditlane-faults-'));
    // Run by root, PostgreSQL is another user's process and must be able to enter.
    await chmod(dataDir, 0o755);
    const plan = { start, args: ['--port', '0', ...args], env };
    const laptop = launch(dataDir, plan);
    return new Subject(dataDir, plan, laptop, await laptop.ready(READY_WITHIN_MS));
  }

  /** Where it is at present, or was when it last was ready. */
  get demo(): Demo {
    return this.#demo;
  }

  /** The first of its processes, which has started all others. */
  get pid(): number {
    return this.#laptop.pid;
  }

  get isRunning(): boolean {
    return this.#laptop.running;
  }

  get output(): string {
    return this.#laptop.output;
  }

  /** Kills the whole process group outright. */
  async kill(): Promise<void> {
    await this.#laptop.stop('SIGKILL');
  }

  /** Starts it again where it was; resolves once it is ready. */
  async restart(): Promise<void> {
    // Killed, it could not take its demo.json along, and that is the sign of being ready.
    await rm(join(this.dataDir, 'demo.json'), { force: true });
    this.#laptop = launch(this.dataDir, this.#plan);
    this.#demo = await this.#laptop.ready(READY_WITHIN_MS);
  }

  /** The process of a service by itself, as it is at present. */
  async service(name: string): Promise<ServiceAddress> {
    const demo = await readJson<Demo>(join(this.dataDir, 'demo.json'));
    const address = demo?.services?.[name];
    if (address === undefined) throw new Error(`there is no process "${name}"`);
    return address;
  }

  /** Sends a service's process a signal that ends it; resolves once it runs again and takes work. */
  async endService(name: string, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const before = await this.service(name);
    process.kill(before.pid, signal);
    await eventually(
      `${name} again`,
      async () => {
        const { pid, opsUrl } = await this.service(name);
        if (pid === before.pid) return undefined;
        return (await fetch(`${opsUrl}/readyz`).catch(() => undefined))?.ok || undefined;
      },
      READY_WITHIN_MS,
    );
  }

  async postmasterPid(): Promise<number> {
    return Number((await this.#postmaster())[0]);
  }

  /** The URL of a service's database, which moves to another port with each start. */
  async databaseUrl(owner: DatabaseOwner): Promise<string> {
    const secrets = await readJson<Secrets>(join(this.dataDir, 'secrets.json'));
    const port = Number((await this.#postmaster())[3]);
    return databaseUrl(owner, secrets?.services[owner].databasePassword ?? '', port);
  }

  async close(): Promise<void> {
    await this.#laptop.stop();
    await rm(this.dataDir, { recursive: true, force: true });
  }

  /** The lines of postmaster.pid: the process, the directory, the time, the port, and more. */
  async #postmaster(): Promise<string[]> {
    const file = join(this.dataDir, 'postgres', 'cluster', 'postmaster.pid');
    return (await readFile(file, 'utf8')).split('\n');
  }
}

function launch(dataDir: string, { args, start, env }: Plan): LocalPlatform {
  return new LocalPlatform(dataDir, args, start, env);
}

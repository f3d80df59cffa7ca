/** The platform that a fault run damages: launched as a person launches it, on its own data directory. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '@creditlane/embedded-postgres/embedded-postgres';
import type { Demo, ServiceAddress } from '@creditlane/local/demo/demo';
import { readJson } from '@creditlane/local/json-file';
import { readSecrets } from '@creditlane/local/secrets-file';
import { settingsOf } from '@creditlane/local/settings';
import { type DatabaseUrls, databaseUrlsOf } from '@creditlane/platform/databases';
import { type DatabaseOwner, SERVICES } from '@creditlane/platform/services';
import { eventually } from '../platform/eventually.ts';
import { LaunchedPlatform, type LaunchOptions } from '../platform/launched-platform.ts';
import { createDataDir, removeDataDir } from '../platform/temporary-data-dir.ts';

const READY_WITHIN_MS = 120_000;

export class SystemUnderTest {
  readonly #options: LaunchOptions;
  #launched: LaunchedPlatform;
  #demo: Demo;
  /** How long the first start took. */
  readonly startMs: number;
  /** Printed before the last restart. */
  #earlierOutput = '';

  private constructor(
    options: LaunchOptions,
    launched: LaunchedPlatform,
    demo: Demo,
    startMs: number,
  ) {
    this.startMs = startMs;
    this.#options = options;
    this.#launched = launched;
    this.#demo = demo;
  }

  /** Launches the platform on a new data directory and resolves once it is ready. */
  static async start({
    program = 'local/main.ts',
    args = [],
    env = {},
  }: Partial<Omit<LaunchOptions, 'dataDir'>> = {}): Promise<SystemUnderTest> {
    const dataDir = await createDataDir('faults');
    const options = { dataDir, program, args: ['--port', '0', ...args], env };
    const launchedMs = performance.now();
    const launched = new LaunchedPlatform(options);
    try {
      const demo = await launched.ready(READY_WITHIN_MS);
      return new SystemUnderTest(options, launched, demo, performance.now() - launchedMs);
    } catch (error) {
      // Left running, it would take processors from all later tests of this process.
      await launched.stop('SIGKILL');
      await removeDataDir(dataDir);
      throw error;
    }
  }

  /** The content of demo.json at the last time the platform became ready. */
  get demo(): Demo {
    return this.#demo;
  }

  /** The pid of the launched program; the other processes are its children. */
  get pid(): number {
    return this.#launched.pid;
  }

  get isRunning(): boolean {
    return this.#launched.running;
  }

  /** Everything printed since the first start. */
  get output(): string {
    return this.#earlierOutput + this.#launched.output;
  }

  /** Sends SIGKILL to the whole process group. */
  async kill(): Promise<void> {
    await this.#launched.stop('SIGKILL');
  }

  /** Runs work on the databases of a killed platform, whose PostgreSQL ended with it. */
  async withPostgres(work: () => Promise<void>): Promise<void> {
    const { dataDir } = this.#options;
    const { postgresPassword: password } = await this.#secrets();
    const postgres = await startEmbeddedPostgres({ dataDir: join(dataDir, 'postgres'), password });
    try {
      await work();
    } finally {
      await postgres.close();
    }
  }

  /** Launches the platform again on the same data directory and resolves once it is ready. */
  async restart(): Promise<void> {
    // A killed platform leaves its demo.json behind, which `ready` would take for the new one.
    await rm(join(this.#options.dataDir, 'demo.json'), { force: true });
    this.#earlierOutput = this.output;
    this.#launched = new LaunchedPlatform(this.#options);
    this.#demo = await this.#launched.ready(READY_WITHIN_MS);
  }

  /** The current address of a service's process. Throws when demo.json does not list it. */
  async service(name: string): Promise<ServiceAddress> {
    const demo = await readJson<Demo>(join(this.#options.dataDir, 'demo.json'));
    const address = demo?.services?.[name];
    if (address === undefined) throw new Error(`demo.json lists no process "${name}"`);
    return address;
  }

  /** Ends a service's process by a signal and resolves once its successor is ready. */
  async restartService(name: string, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const before = await this.service(name);
    process.kill(before.pid, signal);
    await eventually(
      `ready successor of ${name}`,
      async () => {
        const { pid, opsUrl } = await this.service(name);
        if (pid === before.pid) return undefined;
        return (await fetch(`${opsUrl}/readyz`).catch(() => undefined))?.ok || undefined;
      },
      READY_WITHIN_MS,
    );
  }

  async postmasterPid(): Promise<number> {
    return Number((await this.#readPostmasterPid())[0]);
  }

  /** The current URL of a service's database; PostgreSQL listens on another port after a restart. */
  async databaseUrl(owner: DatabaseOwner): Promise<string> {
    return (await this.#databaseUrls())[owner];
  }

  async #databaseUrls(): Promise<DatabaseUrls> {
    const [, , , port] = await this.#readPostmasterPid();
    return databaseUrlsOf(`postgres://127.0.0.1:${port}`, await this.#secrets(), '', SERVICES);
  }

  /** The environment of a command of the service. */
  async settingsOf(owner: DatabaseOwner): Promise<Record<string, string>> {
    const service = SERVICES.find(({ name }) => name === owner);
    if (service === undefined) throw new Error(`there is no service ${owner}`);
    const [secrets, databaseUrls] = await Promise.all([this.#secrets(), this.#databaseUrls()]);
    return settingsOf(service, { secrets, databaseUrls, ports: { api: 0 } });
  }

  #secrets() {
    return readSecrets(this.#options.dataDir);
  }

  async close(): Promise<void> {
    await this.#launched.stop();
    await removeDataDir(this.#options.dataDir);
  }

  /** The lines of postmaster.pid: pid, data directory, start time, port, and more. */
  async #readPostmasterPid(): Promise<string[]> {
    const file = join(this.#options.dataDir, 'postgres', 'cluster', 'postmaster.pid');
    return (await readFile(file, 'utf8')).split('\n');
  }
}

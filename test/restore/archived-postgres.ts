/** A PostgreSQL whose WAL is archived: a base backup of it is taken while it runs, and restored to a time. */
import { execFile } from 'node:child_process';
import { chmod, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '@creditlane/embedded-postgres/embedded-postgres';
import pg from 'pg';
import { expect } from 'vitest';

const run = promisify(execFile);

/** `tar` ends with 1 where a file changed while it was read, as those of a server that runs do. */
const FILE_CHANGED = 1;

export interface ArchivedPostgresOptions {
  /** For everything: archived WAL, the base backup, and the clusters. */
  dir: string;
  password: string;
  port: number;
}

export class ArchivedPostgres {
  readonly #options: ArchivedPostgresOptions;
  readonly #server: EmbeddedPostgres;
  readonly #dataDir: string;

  private constructor(options: ArchivedPostgresOptions, server: EmbeddedPostgres, dataDir: string) {
    this.#options = options;
    this.#server = server;
    this.#dataDir = dataDir;
  }

  static async start(options: ArchivedPostgresOptions): Promise<ArchivedPostgres> {
    const archive = archiveOf(options);
    await mkdir(archive);
    // PostgreSQL may run as another user than the tests.
    await chmod(archive, 0o777);
    const settings = {
      wal_level: 'replica',
      archive_mode: 'on',
      archive_command: `test ! -f ${archive}/%f && cp %p ${archive}/%f`,
    };
    const dataDir = join(options.dir, 'first');
    const server = await startEmbeddedPostgres({ ...options, dataDir, settings });
    return new ArchivedPostgres(options, server, dataDir);
  }

  /** The superuser's URL. */
  get adminUrl(): string {
    return this.#server.adminUrl;
  }

  /** Copies the cluster's files between `pg_backup_start` and `pg_backup_stop`, while writes go on. */
  async takeBaseBackup(): Promise<void> {
    const file = backupOf(this.#options);
    await this.withAdmin(async (admin) => {
      await admin.query(`SELECT pg_backup_start('base', fast => true)`);
      const excluded = ['./pg_wal/*', './postmaster.*'].flatMap((path) => ['--exclude', path]);
      const args = ['-C', join(this.#dataDir, 'cluster'), ...excluded, '-cf', file, '.'];
      await run('tar', args).catch((error) => {
        if (error.code !== FILE_CHANGED) throw error;
      });
      const { rows } = await admin.query<{ label: string }>(
        'SELECT labelfile AS label FROM pg_backup_stop()',
      );
      await writeFile(join(this.#options.dir, 'backup_label'), rows[0]?.label ?? '');
    });
  }

  /** Archives all WAL that was written by now. */
  async archiveAll(): Promise<void> {
    await this.withAdmin(async (admin) => {
      const { rows } = await admin.query<{ file: string }>(
        'SELECT pg_walfile_name(pg_switch_wal()) AS file',
      );
      const file = join(archiveOf(this.#options), rows[0]?.file ?? '');
      await expect
        .poll(() =>
          stat(file).then(
            (it) => it.isFile(),
            () => false,
          ),
        )
        .toBe(true);
    });
  }

  /** Ends this server, and starts the base backup as another cluster at the same port, with the WAL up to `time`. */
  async restoreTo(time: string): Promise<ArchivedPostgres> {
    const { dir } = this.#options;
    await this.close();
    const dataDir = join(dir, 'restored');
    const cluster = join(dataDir, 'cluster');
    await mkdir(cluster, { recursive: true });
    await run('tar', ['-C', cluster, '-xpf', backupOf(this.#options)]);
    await run('cp', [join(dir, 'backup_label'), cluster]);
    await writeFile(join(cluster, 'recovery.signal'), '');
    const { uid, gid } = await stat(join(this.#dataDir, 'cluster'));
    await run('chown', ['-R', `${uid}:${gid}`, dataDir]);
    await chmod(cluster, 0o700);
    const settings = {
      wal_level: 'replica',
      restore_command: `cp ${archiveOf(this.#options)}/%f %p`,
      recovery_target_time: time,
      recovery_target_action: 'promote',
      // No connection before the restore has ended.
      hot_standby: 'off',
    };
    const server = await startEmbeddedPostgres({ ...this.#options, dataDir, settings });
    return new ArchivedPostgres(this.#options, server, dataDir);
  }

  async withAdmin<T>(work: (admin: pg.Client) => Promise<T>, url = this.adminUrl): Promise<T> {
    const admin = new pg.Client({ connectionString: url });
    await admin.connect();
    try {
      return await work(admin);
    } finally {
      await admin.end();
    }
  }

  /** As the superuser, in a database. */
  inDatabase<T>(database: string, work: (admin: pg.Client) => Promise<T>): Promise<T> {
    const url = new URL(this.adminUrl);
    url.pathname = `/${database}`;
    return this.withAdmin(work, url.href);
  }

  /** The file that stands for a dump outside of the server. */
  fileFor(name: string): string {
    return join(archiveOf(this.#options), name);
  }

  async close(): Promise<void> {
    await this.#server.close();
    await rm(join(this.#dataDir, 'owner.pid'), { force: true });
  }
}

const archiveOf = ({ dir }: ArchivedPostgresOptions) => join(dir, 'archive');
const backupOf = ({ dir }: ArchivedPostgresOptions) => join(dir, 'base.tar');

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { createServer, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { openDatabase } from '@creditlane/postgres/database';
import { ensureDatabases } from '@creditlane/postgres/ensure-databases';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { silentLog } from '@creditlane/runtime/test-log';
import { identifyProcess, isRunning, type ProcessIdentity } from '@creditlane/supervision/pid-file';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { makeSocketDir, socketDirOf } from './cluster.ts';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
  stopEmbeddedPostgres,
} from './embedded-postgres.ts';
import { errorFromOutput } from './error.ts';
import { postgresOsUser } from './os-user.ts';

const run = promisify(execFile);
const password = 'a secret, of course';

let dataDir: string;
let running: EmbeddedPostgres[];

beforeEach(async () => {
  // A socket in a longer directory would have too long a path.
  const tempDir = socketDirOf(join(tmpdir(), 'creditlane-embedded-XXXXXX')) ? tmpdir() : '/tmp';
  dataDir = await mkdtemp(join(tempDir, 'creditlane-embedded-'));
  await chmod(dataDir, 0o755);
  running = [];
});
afterEach(async () => {
  await Promise.all(running.map(({ close }) => close()));
  // A process of a server that was killed may still create a file.
  await rm(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

async function start(options: { port?: number; password?: string } = {}) {
  const postgres = await startEmbeddedPostgres({ dataDir, password, ...options });
  running.push(postgres);
  return postgres;
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

describe('a data directory', () => {
  test('is initialised once and keeps its data', async () => {
    const first = await start();
    await query(first.adminUrl, 'CREATE TABLE kept AS SELECT 42 AS answer');
    await first.close();
    const again = await start();
    expect(await query(again.adminUrl, 'SELECT * FROM kept')).toEqual([{ answer: 42 }]);
  });

  test('has a Unix socket, in a directory without the lock that a killed server left', async () => {
    const socketDir = join(dataDir, 'socket');
    await mkdir(socketDir);
    await writeFile(join(socketDir, '.s.PGSQL.1.lock'), `${process.pid}\n`);
    const { adminUrl, socketUrl } = await start();
    const { port } = new URL(adminUrl);
    const names = [`.s.PGSQL.${port}`, `.s.PGSQL.${port}.lock`];
    expect((await readdir(socketDir)).sort()).toEqual(names);
    const isSocket = 'SELECT inet_server_addr() IS NULL AS "isSocket"';
    expect(await query(socketUrl, isSocket)).toEqual([{ isSocket: true }]);
    expect(await query(adminUrl, isSocket)).toEqual([{ isSocket: false }]);
    expect((await stat(socketDir)).mode & 0o777).toBe(0o700);
  });

  test('whose path is too long for a Unix socket, or looks like several paths, has none', () => {
    expect(socketDirOf('/data')).toBe('/data/socket');
    expect(socketDirOf(`/${'d'.repeat(90)}`)).toBeUndefined();
    expect(socketDirOf('/data, of mine')).toBeUndefined();
    expect(socketDirOf('/my "data"')).toBeUndefined();
  });

  test('on a file system that has no sockets has none', async () => {
    const user = await postgresOsUser();
    expect(await makeSocketDir(dataDir, user)).toBe(join(dataDir, 'socket'));
    expect(await readdir(join(dataDir, 'socket'))).toEqual([]);
    const listen = vi.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server) {
      process.nextTick(() => this.emit('error', new Error('EOPNOTSUPP')));
      return this;
    });
    onTestFinished(() => listen.mockRestore());
    expect(await makeSocketDir(dataDir, user)).toBeUndefined();
  });

  test('whose initialisation was interrupted is initialised again', async () => {
    await mkdir(join(dataDir, 'cluster.new'));
    await writeFile(join(dataDir, 'cluster.new', 'PG_VERSION'), '18\n');
    const { adminUrl } = await start();
    expect(await query(adminUrl, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  test('of another version of PostgreSQL is refused with both versions', async () => {
    await (await start()).close();
    await writeFile(join(dataDir, 'cluster', 'PG_VERSION'), '17\n');
    await expect(start()).rejects.toMatchObject({
      reason: 'data_dir_of_other_version',
      message: expect.stringMatching(
        /^PostgreSQL could not start on port \d+: its data directory is of PostgreSQL 17, and this one is 18\.\d+\.$/,
      ),
    });
  });

  test('holds no password and no file that other users can read', async () => {
    await start();
    const names = await readdir(dataDir);
    expect(names.sort()).toEqual(['cluster', 'owner.pid', 'server.log', 'socket']);
    // Where root starts the server, the group of the server's user may enter.
    expect((await stat(dataDir)).mode & 0o067).toBe(0);
    expect((await stat(join(dataDir, 'cluster'))).mode & 0o077).toBe(0);
    expect((await stat(join(dataDir, 'server.log'))).mode & 0o077).toBe(0);
  });

  test('that another process uses is refused', async () => {
    await start();
    await expect(start()).rejects.toMatchObject({ reason: 'data_dir_in_use' });
  });

  test('with another password is refused', async () => {
    await (await start()).close();
    await expect(start({ password: 'wrong' })).rejects.toMatchObject({
      reason: 'password_mismatch',
      message: expect.stringMatching(/^.+$/),
    });
  });

  test('that cannot be created is refused', async () => {
    await writeFile(join(dataDir, 'file'), '');
    const beneathAFile = join(dataDir, 'file', 'data');
    const refused = startEmbeddedPostgres({ dataDir: beneathAFile, password });
    await expect(refused).rejects.toMatchObject({
      name: 'EmbeddedPostgresError',
      reason: 'data_dir_unwritable',
      message: `${beneathAFile} cannot be written (ENOTDIR).`,
    });
  });
});

describe('the server', () => {
  test('refuses clients without the password and listens on loopback only', async () => {
    const { adminUrl } = await start();
    const url = new URL(adminUrl);
    url.password = '';
    await expect(query(url.href, 'SELECT')).rejects.toThrow();
    url.password = 'wrong';
    await expect(query(url.href, 'SELECT')).rejects.toMatchObject({ code: '28P01' });
    const shown = await query(
      adminUrl,
      "SELECT name, setting FROM pg_settings WHERE name IN ('authentication_timeout', 'listen_addresses', 'fsync', 'password_encryption') ORDER BY name",
    );
    expect(shown.map(({ setting }) => setting)).toEqual(['5', 'on', '127.0.0.1', 'scram-sha-256']);
  });

  test('on a port in use fails with one line', async () => {
    const occupant = createServer().listen(0, '127.0.0.1');
    await once(occupant, 'listening');
    const { port } = occupant.address() as { port: number };
    await expect(start({ port })).rejects.toMatchObject({
      reason: 'port_in_use',
      message: `PostgreSQL could not start on port ${port}: its port is in use.`,
    });
    occupant.close();
  });

  test('that is killed is started again, and an open database recovers', async () => {
    const postgres = await start();
    await ensureDatabases(postgres.adminUrl, [{ name: 'kept', password: 'secret' }]);
    const url = new URL(postgres.adminUrl);
    Object.assign(url, { username: 'kept', password: 'secret', pathname: '/kept' });
    const database = await openDatabase({
      url: url.href,
      poolSize: 2,
      name: 'test',
      log: silentLog,
      metrics: new Metrics(),
      entities: [],
      migrations: [],
    });
    try {
      const { pool } = database;
      await pool.query('CREATE TABLE kept AS SELECT 42 AS answer');
      const before = postgres.pid();
      process.kill(before, 'SIGKILL');
      await expect.poll(postgres.pid).not.toBe(before);
      const answer = () => pool.query('SELECT answer FROM kept').then(({ rows }) => rows[0]);
      expect(await answer()).toEqual({ answer: 42 });
      await expect.poll(database.ready).toBe(true);
    } finally {
      await database.close();
    }
  });
});

describe('an owner that is killed with the watchdog', () => {
  test('leaves a server that the next start replaces, and no data is lost', async () => {
    const orphan = await orphaned();
    const postgres = await start();
    expect(await isRunning(orphan)).toBe(false);
    expect(await query(postgres.adminUrl, 'SELECT * FROM kept')).toEqual([{ answer: 42 }]);
  });

  test('leaves a server that can be stopped without a start', async () => {
    const orphan = await orphaned();
    await stopEmbeddedPostgres(dataDir);
    expect(await isRunning(orphan)).toBe(false);
    await stopEmbeddedPostgres(dataDir);
  });

  test('leaves a process id that another program may have by now', async () => {
    await (await start()).close();
    await writeFile(join(dataDir, 'cluster', 'postmaster.pid'), `${process.pid}\n`);
    const { adminUrl } = await start();
    expect(await query(adminUrl, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });
});

const OWNER = `
  import { startEmbeddedPostgres } from './embedded-postgres.ts';
  import pg from 'pg';
  const { adminUrl, pid } = await startEmbeddedPostgres({
    dataDir: process.argv[1], password: process.argv[2] });
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  await client.query('CREATE TABLE kept AS SELECT 42 AS answer');
  process.stdout.write(pid() + '\\n');`;

function owner(user: { uid?: number; gid?: number } = {}) {
  const flags = ['--input-type=module', '--eval', OWNER, dataDir, password];
  return spawn(process.execPath, flags, {
    ...user,
    cwd: import.meta.dirname,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** Kills the process that would end the server with its owner, as the system does when memory runs out. */
async function killWatchdogOf(server: number): Promise<void> {
  const { stdout } = await run('pgrep', ['-f', `parent-death-watchdog INT ${server}$`]);
  process.kill(Number(stdout), 'SIGKILL');
}

/** Starts PostgreSQL from another process, kills all but the server, and returns the server. */
async function orphaned(): Promise<ProcessIdentity> {
  const child = owner();
  const [line] = await once(createInterface(child.stdout), 'line');
  const server = await identifyProcess(Number(line));
  await killWatchdogOf(server.pid);
  process.kill(-(child.pid as number), 'SIGKILL');
  await once(child, 'exit');
  expect(await isRunning(server)).toBe(true);
  return server;
}

describe.runIf(process.getuid?.() === 0)('started by root', () => {
  test('an ordinary user starts a server under its own id', async () => {
    const nobody = 65_534;
    await chown(dataDir, nobody, nobody);
    const child = owner({ uid: nobody, gid: nobody });
    const [pid] = await once(createInterface(child.stdout), 'line');
    expect(await readFile(`/proc/${pid}/status`, 'utf8')).toMatch(/^Uid:\s+65534\s/m);
    const stopped = once(child, 'exit');
    child.kill('SIGTERM');
    await stopped;
    await stopEmbeddedPostgres(dataDir);
  });

  test('a full disk is reported in one line', async () => {
    await run('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', dataDir]);
    try {
      await expect(start()).rejects.toMatchObject({
        reason: 'disk_full',
        message: 'PostgreSQL could not be set up: the disk is full.',
      });
    } finally {
      await run('umount', [dataDir]);
    }
  });

  test('the server runs as an ordinary user', async () => {
    const postgres = await start();
    const status = await readFile(`/proc/${postgres.pid()}/status`, 'utf8');
    expect(status).toMatch(/^Uid:\s+(?!0\s)\d+/m);
  });

  test('a directory that the user postgres cannot reach is refused with the remedy', async () => {
    await chmod(dataDir, 0o700);
    const inside = join(dataDir, 'inside');
    const refused = startEmbeddedPostgres({ dataDir: inside, password });
    await expect(refused).rejects.toMatchObject({
      reason: 'data_dir_unreachable',
      message: expect.stringContaining(`chmod o+x ${dataDir}`),
    });
  });
});

test('the output of the programs becomes one line with a reason', () => {
  const reasonOf = (output: string) => errorFromOutput(output, 'No start').reason;
  expect(reasonOf('FATAL:  could not write: No space left on device')).toBe('disk_full');
  expect(reasonOf('could not create directory "x": Permission denied')).toBe('data_dir_unwritable');
  expect(reasonOf('FATAL:  lock file "postmaster.pid" already exists')).toBe('data_dir_in_use');
  expect(reasonOf('PANIC:  could not locate a valid checkpoint record')).toBe('data_dir_damaged');
  expect(errorFromOutput('LOG:  a\nFATAL:  the reason\nHINT: b\n', 'No start').message).toBe(
    'No start: the reason',
  );
});

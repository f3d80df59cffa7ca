import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { HOST } from '@creditlane/local/host';
import { choosePorts } from '@creditlane/local/ports';
import { StartError } from '@creditlane/local/start-error';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Api, decisionPath } from './platform/api-client.ts';
import { LocalPlatform, processesIn } from './platform/launched-platform.ts';
import { Inbox } from './platform/webhook-inbox.ts';

const run = promisify(execFile);

describe('npm start on a laptop', { timeout: 120_000 }, () => {
  let dataDir: string;
  let laptops: LocalPlatform[];
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'creditlane-laptop-'));
    // Run by root, PostgreSQL is another user's process and must be able to enter.
    await chmod(dataDir, 0o755);
    laptops = [];
  });
  afterEach(async () => {
    for (const laptop of laptops) await laptop.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  const start = (args?: string[]) => {
    const laptop = new LocalPlatform(dataDir, args);
    laptops.push(laptop);
    return laptop;
  };

  test('the printed commands do the journey as printed', async () => {
    const laptop = start();
    const demo = await laptop.ready();
    const commands = laptop.output.match(/^\s*curl (?:.*\\\n)*.*$/gm) ?? [];
    expect(commands.length).toBeGreaterThanOrEqual(3);
    for (const command of commands) {
      const { stdout } = await run('bash', ['-c', `${command} --fail-with-body --silent`]);
      expect(stdout).not.toBe('');
    }
    const arrivals = await new Inbox(demo.inboxUrl).waitFor(2);
    expect(arrivals.at(-1)?.path).toBe('/application-approved');
  });

  test('data and keys survive a restart, and Ctrl-C leaves no process', async () => {
    const first = start();
    const before = await first.ready();
    const api = new Api(before);
    await api.post(decisionPath(before), {
      applicationId: before.applicationId,
      decision: 'BOOKED',
    });
    expect(await first.stop('SIGINT')).toBe(0);
    expect(await processesIn(dataDir)).toEqual([]);

    const after = await start().ready();
    expect({ ...after, baseUrl: '', opsUrl: '', inboxUrl: '' }).toEqual({
      ...before,
      baseUrl: '',
      opsUrl: '',
      inboxUrl: '',
    });
    expect((await new Api(after).get(decisionPath(after))).body.decision).toBe('BOOKED');
  });

  test('webhooks that somebody aimed elsewhere stay aimed there over a restart', async () => {
    const args = ['--port', String(await findFreePorts())];
    const first = start(args);
    const demo = await first.ready();
    const aimed = await new Api(demo).call(
      'PUT',
      `/platform/integrations/${demo.integrationId}/destination`,
      { key: demo.keys.platform, body: { url: `${demo.inboxUrl}/elsewhere` } },
    );
    expect(aimed.status).toBe(200);
    await first.stop();

    const after = await start(args).ready();
    const body = { applicationId: after.applicationId, decision: 'BOOKED' };
    expect((await new Api(after).post(decisionPath(after), body)).status).toBe(200);
    const paths = async () => (await new Inbox(after.inboxUrl).arrivals()).map(({ path }) => path);
    await expect.poll(paths, { timeout: 30_000 }).toContain('/elsewhere/application-booked');
  });

  test('killed with -9 between the write and the delivery, it delivers after the next start', async () => {
    const first = start();
    const before = await first.ready();
    await new Inbox(before.inboxUrl).behave('hang');
    const answer = await new Api(before).post(decisionPath(before), {
      applicationId: before.applicationId,
      decision: 'DECLINED',
    });
    expect(answer.status).toBe(200);
    await first.stop('SIGKILL');
    // It could not take its demo.json along, and that is the sign of being ready.
    await rm(join(dataDir, 'demo.json'));

    const after = await start().ready();
    const inbox = new Inbox(after.inboxUrl);
    const declined = async () =>
      (await inbox.arrivals()).filter(({ path }) => path === '/application-declined');
    await expect.poll(declined, { timeout: 45_000 }).toHaveLength(1);
  });

  test('a second start on the same data directory is refused in one line, and harms nothing', async () => {
    const demo = await start().ready();
    const second = start();
    expect(await second.ended()).toBe(1);
    expect(second.output.trim().split('\n')).toEqual([
      expect.stringMatching(/Another Creditlane \(process \d+\) is using/),
    ]);
    expect((await new Api(demo).get(decisionPath(demo))).status).toBe(200);
  });

  test('a port in use is refused in one line', async () => {
    const { server, port } = await occupyPort();
    const laptop = start(['--port', String(port)]);
    expect(await laptop.ended()).toBe(1);
    server.close();
    expect(laptop.output.trim().split('\n')).toEqual([
      expect.stringContaining(`Port ${port} is in use`),
    ]);
    expect(await readdir(dataDir)).not.toContain('postgres');
  });

  test.each([
    ['that is a file', '', /cannot be written/],
    ['of a newer version', '{"layoutVersion":999}', /newer version/],
  ])('a data directory %s is refused in one line', async (what, marker, message) => {
    if (what === 'that is a file') {
      await rm(dataDir, { recursive: true });
      await writeFile(dataDir, 'not a directory');
    } else {
      await writeFile(join(dataDir, 'creditlane.json'), marker);
    }
    const laptop = start();
    expect(await laptop.ended()).toBe(1);
    expect(laptop.output.trim().split('\n')).toEqual([expect.stringMatching(message)]);
  });

  test.each([
    [['--port', 'eighty'], /--port/],
    [['--data-dir='], /--data-dir/],
    [['--colour'], /--colour/],
  ])('options nobody knows are refused in one line: %s', async (args, message) => {
    const laptop = start(args);
    expect(await laptop.ended()).toBe(1);
    expect(laptop.output.trim().split('\n')).toEqual([expect.stringMatching(message)]);
  });
});

/** The first of three free ports in a row. */
async function findFreePorts(): Promise<number> {
  for (;;) {
    const first = 12_000 + Math.floor(Math.random() * 20_000);
    try {
      return (await choosePorts(first, HOST)).api;
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
    }
  }
}

async function occupyPort(): Promise<{ server: Server; port: number }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { server, port: address.port };
}

import { execFile } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Demo } from '@creditlane/local/demo/demo';
import { findConsecutivePorts } from '@creditlane/supervision/test-consecutive-ports';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  ApiClient,
  decisionPath,
  openDemoDocument,
  recordDemoDecision,
} from './platform/api-client.ts';
import { LaunchedPlatform, listProcessesUsing } from './platform/launched-platform.ts';
import { createDataDir, removeDataDir } from './platform/temporary-data-dir.ts';
import { WebhookInboxClient } from './platform/webhook-inbox-client.ts';

const run = promisify(execFile);
/** How many ports an installation takes. */
const PORTS = 4;

function launch(dataDir: string, args = ['--port', '0']): LaunchedPlatform {
  return new LaunchedPlatform({ dataDir, program: 'local/main.ts', args });
}

describe('npm start', { timeout: 240_000 }, () => {
  let dataDir: string;
  /** The ports of an installation stay the same over restarts. */
  let args: string[];
  let platform: LaunchedPlatform;
  let demo: Demo;
  const start = async () => {
    platform = launch(dataDir, args);
    demo = await platform.ready();
  };
  beforeAll(async () => {
    dataDir = await createDataDir('npm-start');
    args = ['--port', String(await findConsecutivePorts(PORTS))];
    await start();
  }, 180_000);
  afterAll(async () => {
    await platform.stop();
    await removeDataDir(dataDir);
  });

  test('the printed curl commands work as printed and send the webhook of an approval', async () => {
    const commands = platform.output.match(/^\s*curl (?:.*\\\n)*.*$/gm) ?? [];
    expect(commands).toHaveLength(6);
    for (const command of commands) {
      const { stdout } = await run('bash', ['-c', `${command} --fail-with-body --silent`]);
      expect(stdout).not.toBe('');
    }
    const webhooks = await new WebhookInboxClient(demo.inboxUrl).waitFor(2);
    expect(webhooks.at(-1)?.path).toBe('/application-approved');
  });

  test('the demo’s credit file is pulled from the simulator, and the link to its PDF opens as it is', async () => {
    const pdf = await openDemoDocument(demo);
    expect([pdf.status, pdf.headers.get('content-type')]).toEqual([200, 'application/pdf']);
  });

  test('a page of another site neither reads nor empties the webhook inbox', async () => {
    const inbox = new WebhookInboxClient(demo.inboxUrl);
    await inbox.clear();
    await recordDemoDecision(demo, 'APPROVED');
    await inbox.waitFor(1);
    for (const method of ['GET', 'DELETE']) {
      const headers = { origin: 'https://evil.example' };
      expect((await fetch(demo.inboxUrl, { method, headers })).status).toBe(403);
    }
    expect(await inbox.list()).toMatchObject([{ path: '/application-approved' }]);
  });

  test('a second start on the same data directory is refused in one line, and the first goes on', async () => {
    // With the default port, as both have it when a user starts it twice.
    const second = launch(dataDir, ['--port', new URL(demo.baseUrl).port]);
    expect(await second.ended()).toBe(1);
    expect(second.output.trim().split('\n')).toEqual([
      expect.stringMatching(/Another Creditlane \(process \d+\) is using/),
    ]);
    expect((await new ApiClient(demo).get(decisionPath(demo))).status).toBe(200);
  });

  test('Ctrl-C leaves no process, and what a user has changed is there after a restart', async () => {
    const before = demo;
    const asPlatform = { key: demo.keys.platform };
    const destination = `/platform/integrations/${demo.integrationId}/destination`;
    const moved = { url: `${demo.inboxUrl}/elsewhere` };
    const credentials = `/platform/retailers/${demo.retailerId}/bureau-credentials/TRANSUNION`;
    const own = { memberCode: 'M1', password: 'p', baseUrl: `${demo.simulatorUrl}/transunion/own` };
    const api = new ApiClient(before);
    expect((await api.call('PUT', destination, { ...asPlatform, body: moved })).status).toBe(200);
    expect((await api.call('PUT', credentials, { ...asPlatform, body: own })).status).toBe(204);
    const declined = { applicationId: before.applicationId, decision: 'DECLINED' };
    await api.post(decisionPath(before), declined);
    expect(await platform.stop('SIGINT')).toBe(0);
    expect(platform.output).toMatch(/\nStopping;[\s\S]*\nCreditlane has stopped\.\n$/);
    expect(await listProcessesUsing(dataDir)).toEqual([]);

    await start();
    expect(demo).toEqual(before);
    const again = new ApiClient(demo);
    expect((await again.get(decisionPath(demo))).body.decision).toBe('DECLINED');
    expect((await again.get(credentials, asPlatform)).body).toMatchObject({ baseUrl: own.baseUrl });
    await recordDemoDecision(demo, 'BOOKED');
    const paths = async () =>
      (await new WebhookInboxClient(demo.inboxUrl).list()).map(({ path }) => path);
    await expect.poll(paths, { timeout: 30_000 }).toContain('/elsewhere/application-booked');
  });

  test('the webhook inbox knows the secrets of a rotation and of a removed destination after a restart', async () => {
    const inbox = new WebhookInboxClient(demo.inboxUrl);
    await inbox.clear();
    await recordDemoDecision(demo, 'APPROVED');
    const signatures = async (count: number) =>
      (await new WebhookInboxClient(demo.inboxUrl).waitFor(count)).map((it) => it.signatures);
    const valid = { service: 'valid' };
    expect(await signatures(1)).toMatchObject([valid]);
    const path = `/platform/integrations/${demo.integrationId}/destination`;
    const asPlatform = { key: demo.keys.platform };
    const api = new ApiClient(demo);
    const rotated = await api.post(`${path}/secret`, {}, asPlatform);
    await inbox.addSecret(rotated.body);
    expect(await signatures(1)).toMatchObject([valid]);
    await api.call('DELETE', path, asPlatform);
    const secrets = [demo.webhookSecret, rotated.body.secret];
    await platform.stop();

    // The inbox has another address, so that the start sets the destination, which is a new one, to it.
    args = ['--port', String(await findConsecutivePorts(PORTS))];
    await start();
    await recordDemoDecision(demo, 'BOOKED');
    expect(await signatures(2)).toMatchObject([valid, valid]);
    expect(secrets).not.toContain(demo.webhookSecret);
  });

  test('a platform killed between a decision and its webhook sends the webhook after a start on other ports', async () => {
    const before = demo;
    // An earlier test moves the destination to another path.
    const destination = `/platform/integrations/${demo.integrationId}/destination`;
    const toInbox = { key: demo.keys.platform, body: { url: demo.inboxUrl } };
    expect((await new ApiClient(demo).call('PUT', destination, toInbox)).status).toBe(200);
    await new WebhookInboxClient(demo.inboxUrl).setBehaviour('hang');
    await recordDemoDecision(demo, 'DECLINED');
    await platform.stop('SIGKILL');
    // PostgreSQL too ends with a platform that was killed.
    await expect.poll(() => listProcessesUsing(dataDir), { timeout: 20_000 }).toEqual([]);
    // A killed platform leaves its demo.json behind, which `ready` takes for the next one's.
    await rm(join(dataDir, 'demo.json'));

    args = ['--port', '0'];
    await start();
    const moved = { baseUrl: '', opsUrl: '', inboxUrl: '', simulatorUrl: '' };
    expect({ ...demo, ...moved }).toEqual({ ...before, ...moved });
    expect(demo.baseUrl).not.toBe(before.baseUrl);
    const inbox = new WebhookInboxClient(demo.inboxUrl);
    const declined = async () =>
      (await inbox.list()).filter(({ path }) => path === '/application-declined');
    await expect.poll(declined, { timeout: 45_000 }).toHaveLength(1);
  });
});

describe('npm start ends', { timeout: 120_000 }, () => {
  let dataDir: string;
  let platform: LaunchedPlatform | undefined;
  beforeEach(async () => {
    dataDir = await createDataDir('npm-start');
    platform = undefined;
  });
  afterEach(async () => {
    // One that is not refused runs.
    await platform?.stop();
    await removeDataDir(dataDir);
  });

  test('in one line on a port in use', async () => {
    const { server, port } = await occupyPort();
    platform = launch(dataDir, ['--port', String(port)]);
    expect(await platform.ended()).toBe(1);
    server.close();
    expect(platform.output.trim().split('\n')).toEqual([
      expect.stringContaining(`Port ${port} is in use`),
    ]);
    expect(await readdir(dataDir)).not.toContain('postgres');
  });

  test.each([
    {
      name: 'that is a file',
      prepare: async () => {
        await rm(dataDir, { recursive: true });
        await writeFile(dataDir, 'not a directory');
      },
      message: /cannot be written/,
    },
    {
      name: 'of a newer version',
      prepare: () => writeFile(join(dataDir, 'creditlane.json'), '{"layoutVersion":999}'),
      message: /newer version/,
    },
  ])('in one line on a data directory $name', async ({ prepare, message }) => {
    await prepare();
    platform = launch(dataDir);
    expect(await platform.ended()).toBe(1);
    expect(platform.output.trim().split('\n')).toEqual([expect.stringMatching(message)]);
  });

  test('by Ctrl-C while it starts, without an error and without a process left', async () => {
    platform = launch(dataDir);
    // PostgreSQL runs, and the services open their databases.
    const postgresLog = join(dataDir, 'postgres/server.log');
    const isServing = async () =>
      /ready to accept/.test(await readFile(postgresLog, 'utf8').catch(() => ''));
    await expect.poll(isServing, { timeout: 60_000 }).toBe(true);
    expect(await platform.stop('SIGINT')).toBe(0);
    const said = platform.output.replaceAll(/^Starting .*\n/gm, '');
    expect(said).toBe(
      'Stopping; a second Ctrl-C ends everything at once …\nCreditlane has stopped.\n',
    );
    expect(await listProcessesUsing(dataDir)).toEqual([]);
  });

  test.each([
    { args: ['--port', 'eighty'], message: /--port/ },
    { args: ['--data-dir='], message: /--data-dir/ },
    { args: ['--colour'], message: /--colour/ },
  ])('in one line with the invalid option $args', async ({ args, message }) => {
    platform = launch(dataDir, args);
    expect(await platform.ended()).toBe(1);
    expect(platform.output.trim().split('\n')).toEqual([expect.stringMatching(message)]);
  });
});

async function occupyPort(): Promise<{ server: Server; port: number }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { server, port: address.port };
}

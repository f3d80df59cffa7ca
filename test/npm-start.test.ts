import { execFile } from 'node:child_process';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Demo } from '@creditlane/local/demo/demo';
import { HOST } from '@creditlane/local/host';
import { choosePorts } from '@creditlane/local/ports';
import { StartError } from '@creditlane/local/start-error';
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

function launch(dataDir: string, args = ['--port', '0']): LaunchedPlatform {
  return new LaunchedPlatform({ dataDir, program: 'local/main.ts', args });
}

describe('npm start', { timeout: 120_000 }, () => {
  let dataDir: string;
  let platform: LaunchedPlatform;
  let demo: Demo;
  beforeAll(async () => {
    dataDir = await createDataDir('npm-start');
    platform = launch(dataDir);
    demo = await platform.ready();
  });
  afterAll(async () => {
    await platform.stop();
    await removeDataDir(dataDir);
  });

  test('the printed curl commands work as printed and send the webhook of an approval', async () => {
    const commands = platform.output.match(/^\s*curl (?:.*\\\n)*.*$/gm) ?? [];
    expect(commands.length).toBeGreaterThanOrEqual(3);
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

  test('a page of another site neither reads nor empties the webhook inbox, and webhooks arrive', async () => {
    const inbox = new WebhookInboxClient(demo.inboxUrl);
    await inbox.clear();
    const statusOf = async (...args: string[]) => {
      const print = [
        '--silent',
        '--output',
        join(dataDir, 'answer'),
        '--write-out',
        '%{http_code}',
      ];
      return (await run('curl', [...print, ...args, demo.inboxUrl])).stdout;
    };
    const { port } = new URL(demo.inboxUrl);
    // The browser of a person on this machine, after DNS rebinding and without.
    expect(await statusOf('--header', `Host: evil.example:${port}`)).toBe('421');
    expect(await statusOf('--header', 'Origin: https://evil.example')).toBe('403');
    expect(await statusOf('--header', `Host: evil.example:${port}`, '--request', 'DELETE')).toBe(
      '421',
    );
    await recordDemoDecision(demo, 'APPROVED');
    const webhooks = await inbox.waitFor(1);
    expect(webhooks.map(({ path }) => path)).toEqual(['/application-approved']);
  });

  test('a second start on the same data directory is refused in one line, and the first goes on', async () => {
    const second = launch(dataDir);
    expect(await second.ended()).toBe(1);
    expect(second.output.trim().split('\n')).toEqual([
      expect.stringMatching(/Another Creditlane \(process \d+\) is using/),
    ]);
    expect((await new ApiClient(demo).get(decisionPath(demo))).status).toBe(200);
  });
});

describe('npm start on its data directory', { timeout: 120_000 }, () => {
  let dataDir: string;
  let launched: LaunchedPlatform[];
  beforeEach(async () => {
    dataDir = await createDataDir('npm-start');
    launched = [];
  });
  afterEach(async () => {
    for (const platform of launched) await platform.stop();
    await removeDataDir(dataDir);
  });

  const start = (args?: string[]) => {
    const platform = launch(dataDir, args);
    launched.push(platform);
    return platform;
  };

  test('Ctrl-C leaves no process, and data and keys are there after a restart', async () => {
    const first = start();
    const before = await first.ready();
    const api = new ApiClient(before);
    await api.post(decisionPath(before), {
      applicationId: before.applicationId,
      decision: 'BOOKED',
    });
    expect(await first.stop('SIGINT')).toBe(0);
    expect(first.output).toMatch(/\nStopping;[\s\S]*\nCreditlane has stopped\.\n$/);
    expect(await listProcessesUsing(dataDir)).toEqual([]);

    const after = await start().ready();
    expect({ ...after, baseUrl: '', opsUrl: '', inboxUrl: '', simulatorUrl: '' }).toEqual({
      ...before,
      baseUrl: '',
      opsUrl: '',
      inboxUrl: '',
      simulatorUrl: '',
    });
    expect((await new ApiClient(after).get(decisionPath(after))).body.decision).toBe('BOOKED');
  });

  test('a destination and bureau credentials that a user has changed are kept over a restart', async () => {
    const args = ['--port', String(await findFreePorts())];
    const first = start(args);
    const demo = await first.ready();
    const changed = await new ApiClient(demo).call(
      'PUT',
      `/platform/integrations/${demo.integrationId}/destination`,
      { key: demo.keys.platform, body: { url: `${demo.inboxUrl}/elsewhere` } },
    );
    expect(changed.status).toBe(200);
    const credentials = `/platform/retailers/${demo.retailerId}/bureau-credentials/TRANSUNION`;
    const body = {
      memberCode: 'M1',
      password: 'p',
      baseUrl: `${demo.simulatorUrl}/transunion/own`,
    };
    const asPlatform = { key: demo.keys.platform };
    const set = await new ApiClient(demo).call('PUT', credentials, { ...asPlatform, body });
    expect(set.status).toBe(204);
    await first.stop();

    const after = await start(args).ready();
    const api = new ApiClient(after);
    expect((await api.get(credentials, asPlatform)).body).toMatchObject({ baseUrl: body.baseUrl });
    const decided = { applicationId: after.applicationId, decision: 'BOOKED' };
    expect((await api.post(decisionPath(after), decided)).status).toBe(200);
    const paths = async () =>
      (await new WebhookInboxClient(after.inboxUrl).list()).map(({ path }) => path);
    await expect.poll(paths, { timeout: 30_000 }).toContain('/elsewhere/application-booked');
  });

  test('the webhook inbox knows the secrets of a rotation and of a removed destination after a restart', async () => {
    const first = start();
    const demo = await first.ready();
    const path = `/platform/integrations/${demo.integrationId}/destination`;
    const asPlatform = { key: demo.keys.platform };
    const api = new ApiClient(demo);
    const rotated = await api.post(`${path}/secret`, {}, asPlatform);
    const inbox = new WebhookInboxClient(demo.inboxUrl);
    await inbox.addSecret(rotated.body);
    const [stored] = await inbox.waitFor(1);
    expect(stored?.signatures).toMatchObject({ service: 'valid' });
    await api.call('DELETE', path, asPlatform);
    await first.stop();

    // The inbox has another address, so that the start sets the destination, which is a new one, to it.
    const after = await start(['--port', String(await findFreePorts())]).ready();
    const decided = { applicationId: after.applicationId, decision: 'BOOKED' };
    expect((await new ApiClient(after).post(decisionPath(after), decided)).status).toBe(200);
    const webhooks = await new WebhookInboxClient(after.inboxUrl).waitFor(2);
    const valid = { service: 'valid' };
    expect(webhooks.map(({ signatures }) => signatures)).toMatchObject([valid, valid]);
    expect([demo.webhookSecret, rotated.body.secret]).not.toContain(after.webhookSecret);
  });

  test('a platform killed between a decision and its webhook sends the webhook after the next start', async () => {
    const first = start();
    const before = await first.ready();
    await new WebhookInboxClient(before.inboxUrl).setBehaviour('hang');
    const answer = await new ApiClient(before).post(decisionPath(before), {
      applicationId: before.applicationId,
      decision: 'DECLINED',
    });
    expect(answer.status).toBe(200);
    await first.stop('SIGKILL');
    // PostgreSQL too ends with a platform that was killed.
    await expect.poll(() => listProcessesUsing(dataDir), { timeout: 20_000 }).toEqual([]);
    // A killed platform leaves its demo.json behind, which `ready` takes for the next one's.
    await rm(join(dataDir, 'demo.json'));

    const after = await start().ready();
    const inbox = new WebhookInboxClient(after.inboxUrl);
    const declined = async () =>
      (await inbox.list()).filter(({ path }) => path === '/application-declined');
    await expect.poll(declined, { timeout: 45_000 }).toHaveLength(1);
  });

  test('a port in use is refused in one line', async () => {
    const { server, port } = await occupyPort();
    const platform = start(['--port', String(port)]);
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
  ])('a data directory $name is refused in one line', async ({ prepare, message }) => {
    await prepare();
    const platform = start();
    expect(await platform.ended()).toBe(1);
    expect(platform.output.trim().split('\n')).toEqual([expect.stringMatching(message)]);
  });

  test.each([
    { args: ['--port', 'eighty'], message: /--port/ },
    { args: ['--data-dir='], message: /--data-dir/ },
    { args: ['--colour'], message: /--colour/ },
  ])('the invalid option $args is refused in one line', async ({ args, message }) => {
    const platform = start(args);
    expect(await platform.ended()).toBe(1);
    expect(platform.output.trim().split('\n')).toEqual([expect.stringMatching(message)]);
  });
});

/** The first of as many consecutive free ports as an installation needs. */
async function findFreePorts(): Promise<number> {
  for (;;) {
    const first = 12_000 + Math.floor(Math.random() * 20_000);
    try {
      return (await choosePorts({ first, host: HOST })).api;
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

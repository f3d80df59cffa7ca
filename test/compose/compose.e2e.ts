// deploy/compose.yaml, brought up by Docker's engine: what a person does with it from the first start to the removal.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from '@creditlane/client';
import { verifyWebhook } from '@creditlane/client/webhooks';
import { parseEnvFile } from '@creditlane/compose/env-file';
import { type DemoRecords, seedDemoData } from '@creditlane/local/demo/demo';
import { SERVICES } from '@creditlane/platform/services';
import { TestCertificateAuthority } from '@creditlane/runtime/test-certificate-authority';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ContainerEngine, startContainerEngine } from '../end-to-end/container-engine.ts';
import { readInputs } from '../end-to-end/inputs.ts';
import { makeInterface } from '../end-to-end/network-interface.ts';
import { timed } from '../end-to-end/timed.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../platform/webhook-receiver.ts';
import { Compose, composeServices } from './compose.ts';
import type { ComposeInputs } from './parts.ts';

/** A public address, because the dispatcher sends webhooks to no other. In the namespace it is this machine's own. */
const RECEIVER = { host: '44.10.20.30', port: 8443 };
const BASE_URL = 'http://127.0.0.1:3000/v1';
const AUTHORITY = '/run/test-authority.crt';
/** They make databases and topics, and end. */
const COMMANDS = ['databases', 'topics'];
const READY = { timeout: 300_000 };
const WEBHOOK = { timeout: 60_000 };

const inputs = readInputs<ComposeInputs>();
const authority = new TestCertificateAuthority((remove) => afterAll(remove));
let engine: ContainerEngine;
let compose: Compose;
let receiver: WebhookReceiver;
let records: DemoRecords;

beforeAll(async () => {
  await makeInterface('host', [`${RECEIVER.host}/32`]);
  const files = authority.issue(`IP:${RECEIVER.host}`);
  receiver = await startWebhookReceiver({ ...RECEIVER, certificate: files });
  engine = await startEngine();
  // The receiver's certificate is of an authority that no system trusts.
  const dispatcher = {
    environment: { NODE_EXTRA_CA_CERTS: AUTHORITY },
    volumes: [`${files.ca}:${AUTHORITY}:ro`],
  };
  const additions = { 'webhook-dispatcher': dispatcher };
  compose = await Compose.prepare(inputs.parts, engine, { dir: inputs.dir, additions });
});
beforeEach(({ onTestFailed }) => {
  onTestFailed(async () => {
    process.stdout.write(await compose.run('logs', '--no-color', '--tail', '20'));
  });
});
afterAll(async () => {
  await receiver?.close();
  await engine?.close();
});

function startEngine(): Promise<ContainerEngine> {
  const { parts, dataDir, dir, cgroup } = inputs;
  const runDir = join(dir, 'engine');
  return startContainerEngine(parts.debian, { dataDir, runDir, cgroup, hasNetworks: true });
}

/** The state of each container: running and healthy, or ended with its exit code. */
async function states(): Promise<Record<string, string>> {
  const lines = await compose.run(
    'ps',
    '--all',
    '--format',
    '{{.Service}} {{.State}} {{.Health}} {{.ExitCode}}',
  );
  return Object.fromEntries(
    lines
      .trim()
      .split('\n')
      .map((line) => [line.split(' ')[0], line.slice(line.indexOf(' ') + 1)]),
  );
}

async function expectAllReady(): Promise<void> {
  const wanted = Object.keys(await composeServices()).map((name) => [
    name,
    COMMANDS.includes(name) ? 'exited  0' : 'running healthy 0',
  ]);
  await expect.poll(states, READY).toEqual(Object.fromEntries(wanted));
}

const submission = () => {
  const { applicationId, creditorId } = records;
  return { path: { applicationId, creditorId } };
};
const client = () => createClient({ baseUrl: BASE_URL, apiKey: records.key });

/** Records a decision, and expects its webhook, signed with the secret of the destination. */
async function expectDecided(decision: 'APPROVED' | 'DECLINED', webhook: string): Promise<void> {
  const before = receiver.received.length;
  const body = { applicationId: records.applicationId, decision };
  await client().recordDecision({ ...submission(), body });
  const received = () => receiver.received.slice(before).find(({ path }) => path === webhook);
  await expect.poll(() => received()?.path, WEBHOOK).toBe(webhook);
  const { headers = {}, body: signed = '' } = received() ?? {};
  await verifyWebhook({ headers, body: signed, secrets: records.webhookSecret });
}

async function latestDecision(): Promise<string> {
  const { body } = await client().getDecision(submission());
  return body.decision;
}

test('every container becomes healthy, without a network that reaches a registry', async () => {
  await timed('docker compose up', async () => {
    await compose.run('up', '--build', '--detach');
    await expectAllReady();
  });
});

test('a credential made with the platform’s key records a decision, and its webhook is signed', async () => {
  const { PLATFORM_KEY = '' } = parseEnvFile(await readFile(compose.envFile, 'utf8'));
  const access = { baseUrl: BASE_URL, platformKey: PLATFORM_KEY, inboxUrl: receiver.url };
  records = await seedDemoData(access);
  await expectDecided('APPROVED', '/application-approved');
});

test('no container can write to its root file system, and none of the product has a capability', async () => {
  for (const { name } of SERVICES) {
    const program = `
      const fs = require('node:fs');
      const tried = ['/creditlane/x', '/tmp/x'].map((path) => {
        try { fs.writeFileSync(path, ''); return path; } catch ({ code }) { return code; }
      });
      const [, capabilities] = /CapEff:\\s+(\\S+)/.exec(fs.readFileSync('/proc/1/status', 'utf8'));
      console.log(process.getuid(), ...tried, capabilities);`;
    const output = await compose.run('exec', '-T', name, 'node', '--eval', program);
    expect(output.trim(), name).toBe('65532 EROFS EROFS 0000000000000000');
  }
});

test('what was recorded is there after the removal of all containers and another start', async () => {
  await timed('docker compose down', () => compose.run('down'));
  expect(await leftovers()).toEqual({ containers: 0, networks: 0, volumes: 2 });
  await timed('docker compose up again', async () => {
    await compose.run('up', '--detach');
    await expectAllReady();
  });
  expect(await latestDecision()).toBe('APPROVED');
  await expectDecided('DECLINED', '/application-declined');
});

test('the engine starts everything again after its own end', async () => {
  await engine.close();
  await timed('restart of the engine', async () => {
    engine = await startEngine();
    await expectAllReady();
  });
  expect(await latestDecision()).toBe('DECLINED');
  await expectDecided('APPROVED', '/application-approved');
});

test('docker compose down with the volumes leaves nothing', async () => {
  await compose.run('down', '--volumes');
  expect(await leftovers()).toEqual({ containers: 0, networks: 0, volumes: 0 });
});

/** How much the engine still has of the installation. */
async function leftovers() {
  const count = async (...args: string[]) => {
    const lines = await engine.docker([...args, '--quiet']);
    return lines.split('\n').filter(Boolean).length;
  };
  const label = ['--filter', 'label=com.docker.compose.project=creditlane'];
  return {
    containers: await count('ps', '--all', ...label),
    networks: await count('network', 'ls', ...label),
    volumes: await count('volume', 'ls'),
  };
}

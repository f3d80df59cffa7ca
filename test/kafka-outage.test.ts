// Kafka may go away: no caller notices, every process says so to its operators, and nothing is lost.
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWithKafka, startTestCluster } from '@creditlane/events/kafka/test-kafka';
import type { Demo } from '@creditlane/local/demo';
import type { Readiness } from '@creditlane/runtime/health';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { decide } from './platform/api-client.ts';
import { eventually } from './platform/eventually.ts';
import { LocalPlatform } from './platform/launched-platform.ts';
import { Figures } from './platform/metric-samples.ts';
import { Inbox } from './platform/webhook-inbox.ts';

const REPLICAS = ['decisions', 'decisions-2', 'decisions-3'];
const cluster = await startTestCluster(1);
afterAll(() => cluster?.close());

describeWithKafka(cluster, 'while Kafka is away', ({ brokers, stopBroker, startBroker }) => {
  let dataDir: string;
  let platform: LocalPlatform;
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'creditlane-kafka-away-'));
    // Run by root, PostgreSQL is another user's process and must be able to enter.
    await chmod(dataDir, 0o755);
    const args = ['--port', '0', '--replicas', 'decisions=3'];
    const env = { KAFKA_BROKERS: brokers, KAFKA_REPLICATION: '1' };
    platform = new LocalPlatform(dataDir, args, 'processes/up.ts', env);
  });
  afterEach(async () => {
    await platform.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  test('all replicas go on answering, stay ready, and say what is away', {
    timeout: 180_000,
  }, async () => {
    const demo = await platform.ready(120_000);
    const inbox = new Inbox(demo.inboxUrl);
    await stopBroker(0);
    // The first of them cannot be published, which its service finds out by that.
    await decide(demo, 'APPROVED');
    for (const name of [...REPLICAS, 'webhook-dispatcher']) {
      const told = await readiness(demo, name, ({ degraded }) => degraded);
      expect(told).toMatchObject({ status: 200, ready: true });
      expect(told.checks['event bus']).toMatch(/not consuming/);
      const figures = await figuresOf(demo, name);
      expect(figures.sum('health_check', { check: 'event bus' })).toBe(0);
    }

    // One that dies meanwhile comes back and takes calls, though it cannot find Kafka.
    process.kill(demo.services?.['decisions-2']?.pid ?? 0, 'SIGKILL');
    await readiness(demo, 'decisions-2', ({ ready, degraded }) => ready && degraded);

    let decided = 1;
    await eventually('calls to every replica', async () => {
      await decide(demo, 'BOOKED');
      decided += 1;
      const calls = await Promise.all(REPLICAS.map((name) => callsOf(demo, name)));
      return calls.every((count) => count > 0) || undefined;
    });

    await startBroker(0);
    const arrivals = await inbox.waitFor(1 + decided, 60_000);
    expect(arrivals).toHaveLength(1 + decided);
    await readiness(demo, 'decisions-2', ({ ready, degraded }) => ready && !degraded);
  });
});

/** What a process says of itself, once that is as awaited. */
function readiness(demo: Demo, name: string, isAwaited: (told: Readiness) => boolean) {
  return eventually(`${name} as awaited`, async () => {
    const answer = await fetch(`${opsUrl(demo, name)}/readyz`).catch(() => undefined);
    const told = answer && { status: answer.status, ...((await answer.json()) as Readiness) };
    return told && isAwaited(told) ? told : undefined;
  });
}

async function figuresOf(demo: Demo, name: string): Promise<Figures> {
  return new Figures(await (await fetch(`${opsUrl(demo, name)}/metrics`)).text());
}

/** How many calls a process has answered well. */
async function callsOf(demo: Demo, name: string): Promise<number> {
  return (await figuresOf(demo, name)).sum('rpc_requests_total', { code: 'ok' });
}

/** It stays the same over a restart. */
function opsUrl({ services }: Demo, name: string): string {
  return services?.[name]?.opsUrl ?? '';
}

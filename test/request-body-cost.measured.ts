// Whatever body one tenant sends, the other tenant and the health checks are answered meanwhile.
import type { Demo } from '@creditlane/local/demo/demo';
import { expectAtMost, medianOf } from '@creditlane/runtime/test-measures';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ApiClient, decisionPath } from './platform/api-client.ts';
import { LaunchedPlatform } from './platform/launched-platform.ts';
import { MetricSamples } from './platform/metric-samples.ts';
import { createDataDir, removeDataDir } from './platform/temporary-data-dir.ts';

/**
 * Of three bodies, with the reads that are sent meanwhile, which need some 15 ms together. Without the limits, one body of
 * 80 KB took 4 s of CPU time, in which nobody was answered.
 */
const MAX_CPU_SECONDS = 0.3;
/** Of a read meanwhile, which takes some 10 ms. */
const MAX_WAIT_MS = 500;
const ROUNDS = 5;
const KIB = 1024;

/** A list of these items, of about so many bytes. */
const listOf = (item: string, bytes: number) =>
  `[${Array(Math.floor(bytes / (item.length + 1)))
    .fill(item)
    .join(',')}]`;
const addresses = (item: string, bytes: number) =>
  `{"primaryApplicant":{"addressHistory":${listOf(item, bytes)}}}`;
const consents = (bytes: number) => `{"consents":${listOf('{}', bytes)}}`;
const names = (bytes: number) =>
  `{${Array.from({ length: Math.floor(bytes / 12) }, (_, n) => `"${n}":0`).join(',')}}`;

const BODIES = [
  { what: 'numbers for addresses, 80 KB', path: '/applications', text: addresses('0', 80_000) },
  { what: 'numbers for addresses, 120 KB', path: '/applications', text: addresses('0', 120_000) },
  {
    what: 'numbers for addresses, 256 KiB',
    path: '/applications',
    text: addresses('0', 256 * KIB),
  },
  { what: 'numbers for addresses, 1 MiB', path: '/applications', text: addresses('0', 1_048_500) },
  { what: 'empty addresses, 250 KiB', path: '/applications', text: addresses('{}', 250 * KIB) },
  { what: 'empty consents, 120 KB', path: 'submit', text: consents(120_000) },
  { what: 'empty consents, 1 MiB', path: 'submit', text: consents(1_048_500) },
  { what: 'unknown properties, 250 KiB', path: '/applications', text: names(250 * KIB) },
  { what: 'a number of 250 KiB', path: '/applications', text: `{"x":${'9'.repeat(250 * KIB)}}` },
];

describe('while a body is checked', () => {
  let dataDir: string;
  let platform: LaunchedPlatform;
  let demo: Demo;
  beforeAll(async () => {
    dataDir = await createDataDir('request-body-cost');
    platform = new LaunchedPlatform({ dataDir, program: 'local/main.ts' });
    demo = await platform.ready();
  }, 120_000);
  afterAll(async () => {
    // A process that is still busy with a body answers no other signal.
    await platform.stop('SIGKILL');
    await removeDataDir(dataDir);
  });

  /** The CPU time that the platform has used. */
  const readCpuSeconds = async () => {
    const { samples } = new MetricSamples(await (await fetch(`${demo.opsUrl}/metrics`)).text());
    return samples.find(({ name }) => name === 'process_cpu_seconds_total')?.value ?? 0;
  };

  /** Sends three bodies at once. Resolves with the CPU time that they take, and the longest time of a read meanwhile. */
  const sendThree = async (path: string, text: string) => {
    const api = new ApiClient(demo);
    const { otherTenant } = demo;
    const before = await readCpuSeconds();
    expect(before).toBeGreaterThan(0);
    let underWay = 3;
    const refusals = Array.from({ length: underWay }, () =>
      api.post(path, text).finally(() => {
        underWay -= 1;
      }),
    );
    let longestWaitMs = 0;
    while (underWay > 0) {
      const sentAtMs = performance.now();
      const read = api.get(decisionPath(otherTenant), { key: otherTenant.key });
      const live = fetch(`${demo.opsUrl}/livez`);
      expect([(await read).status, (await live).status]).toEqual([200, 200]);
      longestWaitMs = Math.max(longestWaitMs, performance.now() - sentAtMs);
    }
    for (const { status } of await Promise.all(refusals)) expect([400, 413]).toContain(status);
    return { cpuSeconds: (await readCpuSeconds()) - before, longestWaitMs };
  };

  test.each(BODIES)('$what: the other tenant and /livez are answered', async (body) => {
    const { what, path, text } = body;
    const sent = path === 'submit' ? `/applications/${demo.applicationId}/submit` : path;
    const rounds: { cpuSeconds: number; longestWaitMs: number }[] = [];
    while (rounds.length < ROUNDS) rounds.push(await sendThree(sent, text));
    const cpuSeconds = medianOf(rounds.map((it) => it.cpuSeconds));
    const waitMs = medianOf(rounds.map((it) => it.longestWaitMs));
    expectAtMost(MAX_CPU_SECONDS, `CPU seconds of three bodies: ${what}`, cpuSeconds);
    expectAtMost(MAX_WAIT_MS, `ms that a read waits beside three bodies: ${what}`, waitMs);
  });
});

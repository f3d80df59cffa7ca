/** The memory and CPU of each service's process, from its start and under stated loads, beside what its pod asks for. */
import { readFile } from 'node:fs/promises';
import { startBureauSimulator } from '@creditlane/bureau-simulator/bureau-simulator';
import { LOADS, type MeasuredResources, resourcesOf } from '@creditlane/chart/measured-resources';
import { makeApplication, makeSubmission } from '@creditlane/local/demo/demo';
import { makeDemoApplicant, setDemoCredentials } from '@creditlane/local/demo/demo-bureaus';
import { HOST } from '@creditlane/local/host';
import { SERVICES } from '@creditlane/platform/services';
import { createLog } from '@creditlane/runtime/telemetry/log';
import type { Bench } from '../harness.ts';
import { runAtFixedRate } from '../load/load-patterns.ts';
import {
  type BenchPlatform,
  prepareWriters,
  startBenchPlatform,
} from '../platform/bench-platform.ts';
import { readCpuTimes } from '../platform/cpu-cost.ts';

const APPLICATIONS = 2_000;
const LOAD_MS = 40_000;
const WARM_UP_MS = 10_000;
const DECISION = { writer: 'withWebhook', endsWith: 'webhook' } as const;
const WARM_UP = { callers: 32, operations: 15_000, maxMs: 20_000 };
const COMMENT = { userName: 'Ines Okafor', comment: 'Please send a pay stub.' };
/** A persona of the bureau simulator whose file has 200 trades. */
const PERSONA = { firstName: 'Thea', lastName: 'Thick' };

/** By the name of a process. */
type Figures = Record<string, number>;

export default async function measure(bench: Bench): Promise<void> {
  const platform = await startBenchPlatform({ runMode: 'processes', nodeFlags: [] }, bench.closers);
  const atStart = await cpuMs(platform);
  await prepareWriters(platform, APPLICATIONS);
  const putOthers = await prepareOthers(platform, bench);
  const putDecisions = (measureMs: number) => putDecisionLoad(platform, measureMs);
  // New processes are too slow for the whole load at once.
  await platform.loadWorker.call('warmUp', { kind: DECISION, ...WARM_UP });
  const ofDecisions = await milliCores(platform, putDecisions);
  const ofOthers = await milliCores(platform, putOthers);
  const memory = await residentPeakMib(platform);
  bench.print(`per second, one load after the other: ${JSON.stringify(LOADS)}`);
  for (const { name } of SERVICES) {
    const measured: MeasuredResources = {
      memoryMib: Math.round(memory[name] ?? Number.NaN),
      milliCores: Math.round(Math.max(ofDecisions[name] ?? 0, ofOthers[name] ?? 0)),
      startSeconds: Math.round((atStart[name] ?? Number.NaN) / 100) / 10,
    };
    const figures = Object.entries(measured).map(([key, value]) => `${key}: ${value}`);
    bench.print(`  '${name}': { ${figures.join(', ')} },`);
    const { requests } = resourcesOf(name);
    const [cpu = 0, mib = 0] = [requests.cpu, requests.memory].map((it) => Number.parseInt(it, 10));
    bench.limit(`memory of ${name}`, measured.memoryMib, mib, 'MiB');
    bench.limit(`CPU of ${name}`, measured.milliCores, cpu, 'thousandths of a core');
  }
}

/** Resolves once every decision has been answered and its webhook delivered. */
async function putDecisionLoad({ loadWorker }: BenchPlatform, measureMs: number): Promise<void> {
  await loadWorker.call('fixedRate', {
    kind: DECISION,
    perSecond: LOADS.decisions.decisions,
    warmUpMs: 0,
    measureMs,
  });
}

/** Makes the records that the other load needs; the returned function puts it on. */
async function prepareOthers(platform: BenchPlatform, bench: Bench) {
  const { baseUrl, platformKey, tenants } = platform;
  const { key, applicationId, creditorId, retailerId, retailerUserId } = tenants.withWebhook;
  const log = createLog('bureau simulator', { level: 'warn' });
  const simulator = await startBureauSimulator({ host: HOST, port: 0, log });
  bench.closers.add('bureau simulator', simulator.close);
  const access = { baseUrl, platformKey, inboxUrl: '' };
  await setDemoCredentials(access, simulator, [retailerId]);
  const person = await makeDemoApplicant(access, tenants.withWebhook, PERSONA);
  const submission = `/applications/${applicationId}/creditors/${creditorId}`;
  const file = `/applications/${person.applicationId}/credit-file/${person.applicantId}`;
  const send = requester(baseUrl, key);
  const pull = async () => {
    const body = { source: 'EQUIFAX', requestId: crypto.randomUUID() };
    await send('POST', `${file}/request`, body, { prefer: 'force-pull' });
  };
  await pull();
  await send('GET', file, undefined, { prefer: 'wait=30' });
  const operations: Record<keyof typeof LOADS.others, () => Promise<unknown>> = {
    reads: () => send('GET', `${submission}/decision`),
    comments: () => send('POST', `${submission}/comment`, COMMENT),
    applications: async () => {
      const made = await send('POST', '/applications', makeApplication(retailerId));
      const { applicantId } = made.primaryApplicant;
      const body = makeSubmission({ retailerUserId, creditorId, applicantId });
      await send('POST', `/applications/${made.applicationId}/submit`, body);
    },
    pulls: pull,
    documents: async () => {
      // A link is opened a limited number of times, and each read of the file gives another one.
      const { signedPdfUrl } = await send('GET', file, undefined, { prefer: 'wait=30' });
      const response = await fetch(signedPdfUrl);
      if (!response.ok) throw new Error(`a document was answered with ${response.status}`);
      return response.arrayBuffer();
    },
  };
  return async (measureMs: number) => {
    const loads = Object.entries(LOADS.others).map(([name, perSecond]) => {
      const work = operations[name as keyof typeof operations];
      const operation = () => work().then(() => performance.now());
      return runAtFixedRate(operation, { perSecond, warmUpMs: 0, measureMs });
    });
    await Promise.all(loads);
    await platform.settled();
  };
}

/** Sends requests with a key; the returned function resolves to the answer of a success. */
function requester(baseUrl: string, key: string) {
  return async (
    method: 'GET' | 'POST',
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ): // biome-ignore lint/suspicious/noExplicitAny: the answers' shapes are the OpenAPI document's.
  Promise<any> => {
    const response = await fetch(baseUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path} was answered with ${response.status}`);
    return response.json();
  };
}

/** Under a load, after a while of it that is not measured. */
async function milliCores(
  platform: BenchPlatform,
  putLoad: (measureMs: number) => Promise<void>,
): Promise<Figures> {
  await putLoad(WARM_UP_MS);
  const [before, startedMs] = [await cpuMs(platform), performance.now()];
  await putLoad(LOAD_MS);
  const [after, tookMs] = [await cpuMs(platform), performance.now() - startedMs];
  const entries = Object.entries(after).map(([name, ms]) => {
    return [name, ((ms - (before[name] ?? 0)) / tookMs) * 1_000] as const;
  });
  return Object.fromEntries(entries);
}

/** The CPU time of each process so far. */
async function cpuMs({ processes }: BenchPlatform): Promise<Figures> {
  const pids = Object.entries(processes).map(([name, { pid }]) => [name, pid] as const);
  const times = await readCpuTimes(Object.fromEntries(pids));
  if (times === undefined) throw new Error('only Linux says what a process has used');
  return times;
}

/** The most resident memory of each process since its start. */
async function residentPeakMib({ processes }: BenchPlatform): Promise<Figures> {
  const reads = Object.entries(processes).map(async ([name, { pid }]) => {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    const kib = Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]);
    return [name, kib / 1_024] as const;
  });
  return Object.fromEntries(await Promise.all(reads));
}

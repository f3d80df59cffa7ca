/** CPU and latency of the platform's webhooks, and how many at most, in turns with Svix; needs the path of svix-server. */
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { HOST } from '@creditlane/local/host';
import { UsageError } from '@creditlane/local/options';
import { findFreePorts } from '@creditlane/supervision/free-ports';
import type { Bench } from '../harness.ts';
import { SVIX_EVENT_TYPE } from '../load/load-worker.ts';
import {
  APPLICATIONS,
  measureInTurns,
  measureMaximum,
  type Program,
  setWriter,
  startLoadWorker,
  startPlatformProgram,
} from '../load/programs-in-turns.ts';
import { startBenchPostgres } from '../platform/bench-postgres.ts';

const RATES = [
  { perSecond: 50, maxCpuRatio: 2.5 },
  { perSecond: 200, maxCpuRatio: 2 },
  { perSecond: 500, maxCpuRatio: 1.5 },
  { perSecond: 700, maxCpuRatio: 1.25 },
];
const CALLERS = 256;
const START_WITHIN_MS = 30_000;
/** Svix records an attempt directly after its answer. */
const RECORDED_WITHIN_MS = 500;

export default async function measure(bench: Bench): Promise<void> {
  const server = bench.argument;
  if (server === undefined) throw new UsageError('Give the path of svix-server after the subject.');
  const platform = (await startPlatformProgram(bench)).program;
  const svix = await startSvix(bench, server);
  await measureInTurns(bench, [platform, svix], RATES);
  const ofPlatform = await measureMaximum(bench, platform, CALLERS);
  const ofSvix = await measureMaximum(bench, svix, CALLERS);
  bench.limit('webhooks at the maximum, svix / platform', ofSvix / ofPlatform, 0.8);
}

/** Svix with its queue and cache in memory, so that it needs no Redis, and one endpoint for each application. */
async function startSvix(bench: Bench, server: string): Promise<Program> {
  const { socketUrl: databaseUrl, pid } = await startBenchPostgres(bench.closers);
  const [port] = await findFreePorts(1, { host: HOST });
  const env = {
    SVIX_DB_DSN: databaseUrl,
    SVIX_JWT_SECRET: randomBytes(32).toString('hex'),
    SVIX_QUEUE_TYPE: 'memory',
    SVIX_CACHE_TYPE: 'memory',
    SVIX_LISTEN_ADDRESS: `${HOST}:${port}`,
    SVIX_WHITELIST_SUBNETS: `[${HOST}/32]`,
  };
  const printed = execFileSync(server, ['jwt', 'generate'], { env, encoding: 'utf8' });
  const key = /\w+\.\w+\.[\w-]+/.exec(printed)?.[0];
  if (key === undefined) throw new Error(`svix-server printed no token: ${printed}`);
  const child = spawn(server, ['--run-migrations'], { env, stdio: 'ignore' });
  // It may end by itself before.
  const ended = once(child, 'exit');
  bench.closers.add('svix', async () => {
    child.kill();
    await ended;
  });
  const baseUrl = `http://${HOST}:${port}/api/v1`;
  await untilHealthy(baseUrl);

  const { loadWorker, inboxUrl } = await startLoadWorker(bench);
  const post = (path: string, body: object) => postJson(baseUrl + path, key, body);
  await post('/event-type/', { name: SVIX_EVENT_TYPE, description: 'A decision' });
  const applicationIds: string[] = [];
  for (let index = 0; index < APPLICATIONS; index += 1) {
    const { id } = await post('/app/', { name: `application ${index}` });
    await post(`/app/${id}/endpoint/`, { url: inboxUrl, description: 'The load generator' });
    applicationIds.push(id);
  }
  await setWriter(loadWorker, { api: 'svix', baseUrl, key, creditorId: '', applicationIds });
  const pids = { program: child.pid ?? 0, postgres: pid() };
  const settled = () => delay(RECORDED_WITHIN_MS);
  return { name: 'svix', loadWorker, pids, databaseUrls: { svix: databaseUrl }, settled };
}

async function untilHealthy(baseUrl: string): Promise<void> {
  const untilMs = performance.now() + START_WITHIN_MS;
  for (;;) {
    const answer = await fetch(`${baseUrl}/health/`).catch(() => undefined);
    if (answer?.ok) return;
    if (performance.now() > untilMs) throw new Error('svix-server did not become healthy');
    await delay(100);
  }
}

async function postJson(url: string, key: string, body: object): Promise<{ id: string }> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as { id: string };
}

/** The time and the CPU of each step of one webhook at 700 a second, in one process, adding up to the whole. */
import { runSql } from '../data/sql.ts';
import { copySubmission } from '../data/submissions.ts';
import { vacuumAll } from '../data/vacuum.ts';
import type { Bench } from '../harness.ts';
import type { LoadWorker } from '../load/load-worker.ts';
import { readCpuTimes } from '../platform/cpu-cost.ts';
import { profileSteps, type StepFiles } from '../platform/cpu-profile.ts';
import { startPlatformHere } from '../platform/platform-here.ts';
import { startWorker } from '../platform/worker.ts';

const PER_SECOND = 700;
const APPLICATIONS = 256;
const MEASURE_MS = 15_000;
const WARM_UP = { callers: 64, operations: 30_000, maxMs: 40_000 };
/** How much of the CPU time may belong to no step: garbage collection, leases, the reconciler, Node's own work. */
const MAX_OTHER_SHARE = 0.4;

const REQUEST = 'request';
const WRITE = 'write';
const RELAY = 'relay and marks';
const RECIPIENTS = 'recipients';
const INTAKE = 'intake';
const EXCHANGE = 'webhook request';
const RESULT = 'result';
const DRIVER = 'driver of PostgreSQL';
const OTHER = 'others';
const STEPS = [REQUEST, WRITE, RELAY, RECIPIENTS, INTAKE, EXCHANGE, RESULT, DRIVER, OTHER];

const FILES: StepFiles = [
  [WRITE, /services\/decisions\//],
  [RECIPIENTS, /services\/(integrations|webhook-dispatcher\/destinations)\//],
  [RESULT, /webhook-dispatcher\/(sending\/(deferred-)?result|store\/(results|deliveries))/],
  [INTAKE, /webhook-dispatcher\/(intake|events|store\/intake)|transactional-inbox/],
  [EXCHANGE, /webhook-dispatcher\/(sending|egress|queue)\//],
  [RELAY, /libs\/(messaging|events)\//],
  [REQUEST, /services\/gateway\/|node:_http_server|\/koa/],
  [DRIVER, /\/pg(-protocol|-pool)?\/|libs\/postgres\//],
];

const STATEMENTS: readonly (readonly [step: string, database: RegExp, text: RegExp])[] = [
  [RELAY, /./, /outbox_lease|FROM outbox|UPDATE outbox/],
  [WRITE, /decisions$/, /INSERT INTO decisions|num_nulls/],
  [RECIPIENTS, /integrations$/, /pair|destinations/],
  [RESULT, /webhooks$/, /WITH result|lock_timeout|WITH next/],
  [INTAKE, /webhooks$/, /INSERT INTO inbox|advisory|WITH (series|high_water_mark)/],
];

type Platform = Awaited<ReturnType<typeof startPlatformHere>>;

export default async function measure(bench: Bench): Promise<void> {
  const loadWorker = startWorker<LoadWorker>('load/load-worker.ts');
  bench.closers.add('load generator', loadWorker.close);
  const inboxUrl = await loadWorker.call('startReceiver', undefined);
  const preload = { shared_preload_libraries: 'pg_stat_statements' };
  const platform = await startPlatformHere(bench, inboxUrl, preload);
  const { databaseUrls, adminUrl, key, creditorId, baseUrl } = platform;
  await runSql(adminUrl, 'CREATE EXTENSION pg_stat_statements');
  const from = { fromUrl: databaseUrls.decisions };
  const applicationIds = await copySubmission(from, platform, APPLICATIONS);
  const writer = { baseUrl, key, creditorId, applicationIds };
  await loadWorker.call('setWriter', { name: 'budget', writer });
  const kind = { writer: 'budget', endsWith: 'webhook' } as const;
  await loadWorker.call('warmUp', { kind, ...WARM_UP });
  await platform.settled();
  await vacuumAll(databaseUrls);

  const [start] = await runSql(
    adminUrl,
    'SELECT clock_timestamp() AS at, pg_stat_statements_reset()',
  );
  const before = await readCounters(platform);
  const load = { perSecond: PER_SECOND, warmUpMs: 0, measureMs: MEASURE_MS };
  const run = async () => {
    const measured = await loadWorker.call('fixedRate', { kind, ...load });
    await platform.settled();
    return measured;
  };
  let measured: Awaited<ReturnType<typeof run>> | undefined;
  const nodeShares = await profileSteps(FILES, OTHER, async () => {
    measured = await run();
  });
  const after = await readCounters(platform);
  if (measured === undefined) throw new Error('the load was not measured');
  const webhooks = (PER_SECOND * MEASURE_MS) / 1_000;
  const times = await readStepTimes(platform, start?.at, measured.latencyMs.mean, before, after);
  const statements = await readStatementShares(adminUrl);
  const nodeMs = (after.nodeMs - before.nodeMs) / webhooks;
  const postgresMs = (after.postgresMs - before.postgresMs) / webhooks;

  bench.print(
    `One webhook at ${PER_SECOND}/s, in ms: p50 ${show(measured.latencyMs.p50)}, p99 ${show(measured.latencyMs.p99)}`,
  );
  printRow(bench, 'step', ['time (mean)', 'CPU of Node', 'CPU of PostgreSQL', 'statements']);
  for (const step of STEPS) {
    const { share = 0, calls = 0 } = statements.get(step) ?? {};
    printRow(bench, step, [
      times.get(step),
      (nodeShares.get(step) ?? 0) * nodeMs,
      share * postgresMs,
      calls / webhooks,
    ]);
  }
  const calls = [...statements.values()].reduce((sum, step) => sum + step.calls, 0);
  printRow(bench, 'whole', [measured.latencyMs.mean, nodeMs, postgresMs, calls / webhooks]);
  bench.print('The time of the result is after the webhook, and no part of the whole.');
  const ofOthers =
    (nodeShares.get(OTHER) ?? 0) * nodeMs + (statements.get(OTHER)?.share ?? 0) * postgresMs;
  bench.limit('share of CPU of no step', ofOthers / (nodeMs + postgresMs), MAX_OTHER_SHARE);
}

interface Counters {
  nodeMs: number;
  postgresMs: number;
  /** Of the calls of a method until now. */
  calls: ReadonlyMap<string, { sumS: number; count: number }>;
}

const METHODS = ['RecordDecision', 'FindRecipients'] as const;

async function readCounters({ postgresPid, metrics }: Platform): Promise<Counters> {
  const { user, system } = process.cpuUsage();
  const times = await readCpuTimes({ postgres: postgresPid() });
  const text = await metrics.text();
  const figure = (method: string, kind: string) => {
    const line = new RegExp(
      `^creditlane_rpc_duration_seconds_${kind}{[^}]*"${method}"[^}]*} (.*)$`,
      'm',
    );
    return Number(line.exec(text)?.[1] ?? 0);
  };
  const calls = METHODS.map(
    (method) => [method, { sumS: figure(method, 'sum'), count: figure(method, 'count') }] as const,
  );
  const nodeMs = (user + system) / 1_000;
  return { nodeMs, postgresMs: times?.postgres ?? 0, calls: new Map(calls) };
}

/** The mean milliseconds of each step. The clock of recorded_at and started_at has whole milliseconds. */
async function readStepTimes(
  { databaseUrls }: Platform,
  since: unknown,
  wholeMs: number,
  before: Counters,
  after: Counters,
): Promise<Map<string, number>> {
  const [taken] = await runSql(
    databaseUrls['webhook-dispatcher'],
    `SELECT avg(extract(epoch FROM i.received_at - m.recorded_at)) * 1000 - 0.5 AS until_intake,
       avg(extract(epoch FROM a.started_at - i.received_at)) * 1000 + 0.5 AS intake,
       avg(a.duration_ms) AS exchange,
       avg(extract(epoch FROM d.settled_at - a.started_at) * 1000 - a.duration_ms) - 0.5 AS result
     FROM messages AS m JOIN inbox AS i USING (event_id) JOIN deliveries AS d USING (event_id)
     JOIN attempts AS a ON a.delivery_id = d.id
     WHERE m.recorded_at >= $1`,
    [since],
  );
  const meanMs = (method: (typeof METHODS)[number]) => {
    const [from, to] = [before, after].map(({ calls }) => calls.get(method));
    if (from === undefined || to === undefined) throw new Error(`there is no figure of ${method}`);
    return ((to.sumS - from.sumS) / (to.count - from.count)) * 1_000;
  };
  const [write, recipients] = [meanMs('RecordDecision'), meanMs('FindRecipients')];
  const { until_intake, intake, exchange, result } = taken as Record<string, number>;
  const known = Number(until_intake) + Number(intake) + Number(exchange);
  return new Map([
    [REQUEST, wholeMs - known],
    [WRITE, write],
    [RELAY, Number(until_intake) - write - recipients],
    [RECIPIENTS, recipients],
    [INTAKE, Number(intake)],
    [EXCHANGE, Number(exchange)],
    [RESULT, Number(result)],
  ]);
}

/** The share of each step in the time of all statements, and its statements. */
async function readStatementShares(adminUrl: string) {
  const rows = (await runSql(
    adminUrl,
    `SELECT datname AS database, query, calls::float8 AS calls, total_exec_time AS ms
     FROM pg_stat_statements AS s JOIN pg_database AS d ON d.oid = s.dbid`,
  )) as { database: string; query: string; calls: number; ms: number }[];
  const wholeMs = rows.reduce((sum, { ms }) => sum + ms, 0);
  const shares = new Map<string, { share: number; calls: number }>();
  for (const { database, query, calls, ms } of rows) {
    const found = STATEMENTS.find(([, of, text]) => of.test(database) && text.test(query));
    const step = shares.get(found?.[0] ?? OTHER) ?? { share: 0, calls: 0 };
    shares.set(found?.[0] ?? OTHER, {
      share: step.share + ms / wholeMs,
      calls: step.calls + calls,
    });
  }
  return shares;
}

const show = (figure: number) => figure.toFixed(2);

function printRow(
  bench: Bench,
  name: string,
  cells: readonly (number | string | undefined)[],
): void {
  const texts = cells.map((cell) => (typeof cell === 'number' ? cell.toFixed(3) : (cell ?? '–')));
  bench.print(name.padEnd(32) + texts.map((text) => text.padStart(18)).join(''));
}

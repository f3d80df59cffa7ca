// The chart on a real Kubernetes: each test goes on with the installation that the one before left.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type DemoRecords, seedDemoData } from '@creditlane/local/demo/demo';
import { SERVICES } from '@creditlane/platform/services';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readInputs } from '../end-to-end/inputs.ts';
import { timed } from '../end-to-end/timed.ts';
import { startRecordingReceiver } from '../faults/recording-receiver.ts';
import { ApiClient, decisionPath } from '../platform/api-client.ts';
import { runSql } from '../platform/run-sql.ts';
import { dryRun, prepareDryRuns, renderAll } from './dry-run.ts';
import {
  AUTOSCALING,
  INSTALLED,
  Installation,
  type Pod,
  RECEIVER,
  REPLICAS,
} from './installation.ts';
import { type Cluster, type ClusterOptions, startCluster } from './kubernetes/cluster.ts';
import { setUpNetwork } from './kubernetes/network.ts';
import { callsPerPod, expectNothingLost } from './load.ts';
import { PRODUCT_REPOSITORY, TAGS } from './parts/images.ts';
import { ADDED_COLUMN, CHANGED_SERVICE } from './parts/later-version.ts';
import { type OutsidePlatform, startOutsidePlatform } from './platform.ts';
import { startPrometheus } from './prometheus.ts';

const [BEFORE, AFTER] = TAGS;
/** Of which pods are deleted at the same time: one of each. */
const SERVICES_AT_A_TIME = 4;
const WITH_KEY_RING = SERVICES.filter(({ settings }) => 'keyRing' in settings).map(
  ({ name }) => name,
);
const inputs = readInputs<ClusterOptions>();
let cluster: Cluster;
let platform: OutsidePlatform;
let creditlane: Installation;
/** Its records are made by the smoke test. */
let tenant: DemoRecords;
/** The names of the Secrets in the namespace when nothing was installed yet. */
let secretsBefore: string[];
beforeAll(async () => {
  await setUpNetwork();
  // Before the nodes: beside pods that start, the brokers would take longer than they may.
  platform = await timed('PostgreSQL and Kafka', () => startOutsidePlatform(inputs.dir));
  cluster = await timed('the cluster', () => startCluster(inputs));
  creditlane = new Installation(cluster.kubectl, platform, inputs.dir);
});
afterAll(async () => {
  await cluster?.close();
  await platform?.close();
});

/** Runs work while callers record decisions; expects that no request fails and that nothing is lost. */
const underLoad = (name: string, work: () => Promise<void>) =>
  expectNothingLost({ name, creditlane, platform, work });

test('the API server accepts every object of every set of values, and refuses a field that it does not know', async () => {
  await prepareDryRuns(cluster, inputs.parts);
  const clusterWide = await creditlane.clusterWideKinds();
  expect(clusterWide).toContain('rbac.authorization.k8s.io/v1 ClusterRole');
  for (const [set, objects] of await renderAll(inputs.parts)) {
    // The test of the uninstallation reads the namespace alone.
    const kinds = new Set(objects.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`));
    expect(
      clusterWide.filter((kind) => kinds.has(kind)),
      set,
    ).toEqual([]);
    await dryRun(cluster, objects);
    process.stdout.write(`${set}: the API server accepts ${objects.length} objects\n`);
    const [deployment] = objects.filter(({ kind }) => kind === 'Deployment');
    const misspelt = { ...deployment, spec: { ...deployment?.spec, replicaz: 2 } };
    await expect(dryRun(cluster, [misspelt])).rejects.toThrow('unknown field "replicaz"');
  }
});

test('helm installs the chart where only restricted pods are admitted, and its own test passes', async () => {
  await creditlane.prepare();
  secretsBefore = await creditlane.secretNames();
  const notes = await creditlane.install(BEFORE);
  expect(notes).toContain('helm test creditlane --namespace creditlane');
  expect(notes).toContain('port-forward service/creditlane-gateway 8080:8080');
  await creditlane.helm('test', 'creditlane', '--timeout=3m');
  for (const service of INSTALLED) {
    // The autoscaler adds the second replica of its service.
    await expect.poll(() => creditlane.pods(service)).toHaveLength(REPLICAS);
    await creditlane.untilComplete(service);
  }
});

test('the nodes run pods that have names and figures', async () => {
  const { items } = await cluster.kubectl.get('pods', '--namespace', 'kube-system');
  expect(items).toHaveLength(2);
  // The metrics server reads the nodes every ten seconds.
  await expect
    .poll(() => cluster.kubectl.run('top', 'nodes', '--no-headers').catch(() => ''))
    .toMatch(/first.*\n.*second/);
});

test('the smoke test passes through the Service of the gateway', async () => {
  const receiver = await startRecordingReceiver(RECEIVER);
  try {
    const demo = await creditlane.demo();
    const { baseUrl, keys } = demo;
    const access = { baseUrl, platformKey: keys.platform, inboxUrl: receiver.url };
    tenant = await seedDemoData(access);
    const { key, ...records } = tenant;
    receiver.verifyWith(records.webhookSecret);
    const api = new ApiClient({ ...demo, ...records, keys: { ...keys, integration: key } });
    const body = { applicationId: records.applicationId, decision: 'APPROVED' };
    expect((await api.post(decisionPath(records), body)).status).toBe(200);
    expect((await api.get(decisionPath(records))).body).toMatchObject({ decision: 'APPROVED' });
    await expect
      .poll(() =>
        receiver.webhooks.map(({ path, signed, sequence }) => ({ path, signed, sequence })),
      )
      .toEqual([
        { path: '/awaiting-decision', signed: true, sequence: 1 },
        { path: '/application-approved', signed: true, sequence: 2 },
      ]);
  } finally {
    await receiver.close();
  }
});

test('each container has a file system that it cannot write to, no token and no privilege', async () => {
  for (const { metadata, spec } of await creditlane.list('pods')) {
    expect(spec.automountServiceAccountToken, metadata.name).toBe(false);
    for (const { securityContext } of spec.containers)
      expect(securityContext.readOnlyRootFilesystem, metadata.name).toBe(true);
  }
  const tries = `import { existsSync, writeFileSync } from 'node:fs';
    const error = (() => { try { writeFileSync('/creditlane/x', ''); } catch ({ code }) { return code; } })();
    console.log(process.getuid(), error, existsSync('/var/run/secrets/kubernetes.io'));`;
  for (const service of INSTALLED) {
    const command = ['node', '--input-type=module', '--eval', tries];
    const printed = await creditlane.kubectl(
      'exec',
      `deployment/creditlane-${service}`,
      '--',
      ...command,
    );
    expect(printed, service).toBe('65532 EROFS false\n');
  }
});

/** Reads records that each service has of the tenant. */
async function readOfEachService(times: number) {
  const { key, applicationId, applicantId, creditorId } = tenant;
  const api = new ApiClient(await creditlane.demo());
  const paths = [
    '/applications',
    `/applications/${applicationId}/creditors/${creditorId}/conversation`,
    `/applications/${applicationId}/credit-file/${applicantId}/pulls`,
    decisionPath(tenant),
    '/webhook-deliveries',
  ];
  for (let time = 0; time < times; time += 1) {
    const answers = await Promise.all(paths.map((path) => api.get(path, { key })));
    expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 200));
  }
}

/**
 * Makes `reads` reads of each service. Returns how many calls each service had meanwhile, and the share (0 to 1) of the
 * replica with the fewest.
 */
async function measureShares(reads: number) {
  const before = new Map((await callsPerPod(creditlane)).map(({ pod, calls }) => [pod, calls]));
  // A client's connections stay with the replica of the gateway that they reached.
  await creditlane.requestOnNewConnections(40);
  await readOfEachService(reads);
  const after = await callsPerPod(creditlane);
  const made = after.map(({ service, pod, calls }) => {
    return { service, calls: calls - (before.get(pod) ?? 0) };
  });
  return [...Map.groupBy(made, ({ service }) => service)].map(([service, replicas]) => {
    const calls = replicas.map((replica) => replica.calls);
    const all = calls.reduce((sum, count) => sum + count, 0);
    return { service, all, leastShare: replicas.length < REPLICAS ? 0 : Math.min(...calls) / all };
  });
}

type Share = Awaited<ReturnType<typeof measureShares>>[number];
// Which replica of the gateway a new connection reaches is drawn by lot.
const isSpread = ({ service, leastShare }: Share) => leastShare > (service === 'gateway' ? 0 : 0.2);

test('calls are spread over the replicas of each service, which are on both nodes', async () => {
  for (const service of INSTALLED) {
    const nodes = (await creditlane.pods(service)).map(({ spec }) => spec.nodeName);
    expect(new Set(nodes).size, service).toBe(REPLICAS);
  }
  await underLoad('calls spread', async () => {
    // A caller learns of a later replica when one of its connections ends, at its maximum age.
    const haveLearned = (shares: Share[]) => shares.every(isSpread);
    await expect.poll(() => measureShares(40)).toSatisfy(haveLearned);
    const shares = await measureShares(100);
    for (const { service, all, leastShare } of shares)
      process.stdout.write(`${service}: ${all} calls, ${leastShare.toFixed(2)} at one replica\n`);
    expect(shares.map(({ service }) => service)).toEqual(expect.arrayContaining(INSTALLED));
    expect(shares.filter((share) => share.all < 100 || !isSpread(share))).toEqual([]);
  });
});

test('the deletion of every pod, of several services at a time, fails no request', async () => {
  await underLoad('deleted pods', async () => {
    for (let from = 0; from < INSTALLED.length; from += SERVICES_AT_A_TIME) {
      const services = INSTALLED.slice(from, from + SERVICES_AT_A_TIME);
      for (let replica = 0; replica < REPLICAS; replica += 1) {
        const pods = await Promise.all(services.map((service) => creditlane.pods(service)));
        await creditlane.kubectl('delete', 'pod', ...pods.map(nameOfOldest));
        await Promise.all(services.map((service) => creditlane.untilComplete(service)));
      }
    }
  });
});

test('an upgrade with a further migration, changed configuration and replaced keys fails no request', async () => {
  const oldKey = platform.variables.PLATFORM_KEY ?? '';
  const jobs = await creditlane.migrations();
  await underLoad('upgrade', async () => {
    await replaceSecrets(() => platform.addKeys());
    await replaceSecrets(() => platform.useNewKeys());
    expect(await hasAddedColumn()).toBe(false);
    const upgrade = creditlane.install(AFTER, { settings: { LOG_LEVEL: 'warn' } });
    await Promise.all([upgrade, expectMigratedBesideOldPods()]);
    for (const service of WITH_KEY_RING)
      await expect.poll(() => creditlane.command(service, '--rewrap-keys')).toSatisfy(isRewrapped);
    await replaceSecrets(() => platform.removeOldKeys());
  });
  for (const { spec } of (await creditlane.pods()).filter(goesOn)) {
    expect(spec.containers[0].image).toBe(`${PRODUCT_REPOSITORY}:${AFTER}`);
    expect(spec.containers[0].env).toContainEqual({ name: 'LOG_LEVEL', value: 'warn' });
  }
  const { baseUrl } = await creditlane.demo();
  const headers = { authorization: `Bearer ${oldKey}` };
  const statusOfOldKey = async () => (await fetch(`${baseUrl}/applications`, { headers })).status;
  await expect.poll(statusOfOldKey).toBe(401);
  // A tenant is made with the new keys alone.
  await underLoad('after the upgrade', async () => undefined);
  const names = new Set(jobs.map(({ metadata }) => metadata.name));
  const later = (await creditlane.migrations()).filter(({ metadata }) => !names.has(metadata.name));
  expect(later).toHaveLength(jobs.length);
  for (const { status } of later) expect(status.succeeded).toBe(1);
});

function nameOfOldest(pods: readonly Pod[]): string {
  const times = pods.map(({ metadata }) => metadata.creationTimestamp);
  return pods[times.indexOf(times.toSorted()[0] ?? '')]?.metadata.name ?? '';
}

const isRewrapped = (lines: { rewrapped: number; left: number }[]) =>
  lines.length > 0 && lines.every(({ rewrapped, left }) => rewrapped === 0 && left === 0);

/** Changes Secrets, and resolves once every pod has the files. */
async function replaceSecrets(change: () => void) {
  change();
  await creditlane.applySecrets();
  for (const name of ['KEY_RING', 'PLATFORM_KEY_DIGESTS'])
    await expect.poll(() => creditlane.mounted(name)).toEqual([platform.variables[name]]);
}

/** Waits for the further migration, and expects that a pod of the earlier version still serves then. */
async function expectMigratedBesideOldPods() {
  await expect.poll(hasAddedColumn).toBe(true);
  const images = (await creditlane.pods(CHANGED_SERVICE))
    .filter((pod) => goesOn(pod) && isReady(pod))
    .map(({ spec }) => spec.containers[0].image);
  expect(images).toContain(`${PRODUCT_REPOSITORY}:${BEFORE}`);
}

/** Whether the database has what the later version adds. */
async function hasAddedColumn(): Promise<boolean> {
  const { table, column } = ADDED_COLUMN;
  const text = 'SELECT FROM information_schema.columns WHERE table_name = $1 AND column_name = $2';
  const url = await platform.databaseUrl(CHANGED_SERVICE);
  return (await runSql(url, text, [table, column])).length > 0;
}

test('a rollback to the earlier version, on the database of the later one, fails no request', async () => {
  await underLoad('rollback', async () => {
    await creditlane.helm('rollback', 'creditlane', '1', '--wait', '--timeout=8m');
  });
  for (const { spec } of (await creditlane.pods()).filter(goesOn)) {
    expect(spec.containers[0].image).toBe(`${PRODUCT_REPOSITORY}:${BEFORE}`);
  }
  expect(await hasAddedColumn()).toBe(true);
});

test('a node is drained within the disruption budgets, and no request fails', async () => {
  // The pods of the version before have ended.
  await expect.poll(() => creditlane.pods()).toSatisfy((pods: Pod[]) => pods.every(goesOn));
  const nodesBefore = (await creditlane.pods('decisions')).map(({ spec }) => spec.nodeName);
  expect(nodesBefore).toContain('second');
  await underLoad('drained node', async () => {
    const drain = ['drain', 'second', '--ignore-daemonsets', '--timeout=5m'];
    await Promise.all([cluster.kubectl.run(...drain), expectEvictionRefused('decisions')]);
    for (const service of INSTALLED) await creditlane.untilComplete(service);
  });
  const nodes = (await creditlane.pods()).map(({ spec }) => spec.nodeName);
  expect(new Set(nodes)).toEqual(new Set(['first']));
  await cluster.kubectl.run('uncordon', 'second');
});

/** Asks again and again until the disruption budget keeps the pod that serves, because a drain has evicted the other one. */
async function expectEvictionRefused(service: string) {
  const askForOne = async () => {
    const serving = (await creditlane.pods(service)).find((pod) => goesOn(pod) && isReady(pod));
    if (serving === undefined) throw new Error(`no pod of ${service} serves`);
    return creditlane.tryEviction(serving).then(() => 'permitted', String);
  };
  const refusal = "Cannot evict pod as it would violate the pod's disruption budget";
  await expect.poll(askForOne, { timeout: 60_000 }).toContain(refusal);
}

const goesOn = ({ metadata }: Pod) => metadata.deletionTimestamp === undefined;

function isReady({ status }: Pod): boolean {
  const { conditions }: { conditions: { type: string; status: string }[] } = status;
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}

test('the autoscaler adds a replica of a service that uses more of its processors than it should', async () => {
  await creditlane.install(BEFORE, {
    services: { decisions: { autoscaling: { ...AUTOSCALING, cpuPercent: 5 } } },
  });
  await expect
    .poll(() => creditlane.pods('decisions'), { timeout: 180_000 })
    .toHaveLength(AUTOSCALING.maxReplicas);
  await creditlane.untilComplete('decisions');
});

test('a real Prometheus scrapes every pod, misses no service, and fires the alert of a destination that is gone', async () => {
  const prometheus = await startPrometheus(cluster.daemons, inputs, await creditlane.pods());
  await expect.poll(() => prometheus.scraped()).toEqual(INSTALLED.toSorted());
  await expect.poll(() => prometheus.value('creditlane_webhook_disabled_destinations')).toBe(0);
  const gone = createServer((_, response) => response.writeHead(410).end());
  gone.listen(RECEIVER);
  await once(gone, 'listening');
  const { baseUrl, keys } = await creditlane.demo();
  const inboxUrl = `http://${RECEIVER.host}:${RECEIVER.port}`;
  await seedDemoData({ baseUrl, platformKey: keys.platform, inboxUrl });
  await expect
    .poll(() => prometheus.alerts(), { timeout: 120_000 })
    .toContainEqual({ name: 'CreditlaneDestinationDisabled', state: 'firing' });
  // An alert of absence is pending for two minutes before it fires.
  const absences = async () =>
    (await prometheus.alerts()).filter(({ name }) => name.endsWith('Absent'));
  await expect.poll(absences).toEqual([]);
  gone.close();
});

test('an uninstallation leaves nothing but the Secrets that were there before', async () => {
  const release = (name: string) => name.startsWith('sh.helm.release.');
  expect((await creditlane.secretNames()).filter(release)).not.toEqual([]);
  await creditlane.helm('uninstall', 'creditlane', '--wait', '--timeout=5m');
  const listed = ['--verbs=list', '--namespaced', '--output=name'];
  const kinds = await cluster.kubectl.run('api-resources', ...listed);
  const left = async () => {
    const objects = await creditlane.list(kinds.trim().split('\n').join(','));
    return objects
      .map(({ kind, metadata }) => `${kind} ${metadata.name}`)
      .filter((name) => !/^Event |^ConfigMap kube-root|^ServiceAccount default$/.test(name))
      .toSorted();
  };
  const secrets = secretsBefore.map((name) => `Secret ${name}`).toSorted();
  await expect.poll(left, { timeout: 120_000 }).toEqual(secrets);
});

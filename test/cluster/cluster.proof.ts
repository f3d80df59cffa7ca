// The chart on a real Kubernetes: each proof goes on with the installation that the one before left.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { seedDemoData } from '@creditlane/local/demo/demo';
import { SERVICES } from '@creditlane/platform/services';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startRecordingReceiver } from '../faults/recording-receiver.ts';
import { ApiClient, decisionPath } from '../platform/api-client.ts';
import { dryRun, prepareDryRuns, renderAll } from './dry-run.ts';
import { readInputs } from './inputs.ts';
import {
  AUTOSCALING,
  INSTALLED,
  Installation,
  type Pod,
  RECEIVER,
  REPLICAS,
} from './installation.ts';
import { type Cluster, startCluster } from './kubernetes/cluster.ts';
import { setUpNetwork } from './kubernetes/network.ts';
import { callsPerPod, expectNothingLost } from './load.ts';
import { PRODUCT_REPOSITORY, TAGS } from './parts/images.ts';
import { timed } from './parts/timed.ts';
import { type OutsidePlatform, startOutsidePlatform } from './platform.ts';
import { startPrometheus } from './prometheus.ts';

const [BEFORE, AFTER] = TAGS;
/** Of which pods are deleted at the same time: one of each. */
const SERVICES_AT_A_TIME = 4;
const WITH_KEY_RING = SERVICES.filter(({ settings }) => 'keyRing' in settings).map(
  ({ name }) => name,
);
/** The services that every recorded decision and its webhook call. */
const BUSY = ['gateway', 'decisions', 'integrations'];
let cluster: Cluster;
let platform: OutsidePlatform;
let creditlane: Installation;
/** The names of the Secrets in the namespace when nothing was installed yet. */
let secretsBefore: string[];
beforeAll(async () => {
  const inputs = readInputs();
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

test('the nodes run pods that have names and figures', async () => {
  const { items } = await cluster.kubectl.get('pods', '--all-namespaces');
  expect(items).toHaveLength(2);
  // The metrics server reads the nodes every ten seconds.
  await expect
    .poll(() => cluster.kubectl.run('top', 'nodes', '--no-headers').catch(() => ''))
    .toMatch(/first.*\n.*second/);
});

test('the API server accepts every object of every set of values, and refuses a field that it does not know', async () => {
  const { parts } = readInputs();
  await prepareDryRuns(cluster, parts);
  const clusterWide = await creditlane.clusterWideKinds();
  expect(clusterWide).toContain('rbac.authorization.k8s.io/v1 ClusterRole');
  for (const [set, objects] of await renderAll(parts)) {
    // The proof of the uninstallation reads the namespace alone.
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
  await creditlane.install(BEFORE);
  await creditlane.helm('test', 'creditlane', '--timeout=3m');
  for (const service of INSTALLED) {
    // The autoscaler adds the second replica of its service.
    await expect.poll(() => creditlane.pods(service)).toHaveLength(REPLICAS);
    await creditlane.untilComplete(service);
  }
});

test('the first journey goes through the Service of the gateway', async () => {
  const receiver = await startRecordingReceiver(RECEIVER);
  try {
    const demo = await creditlane.demo();
    const { baseUrl, keys } = demo;
    const access = { baseUrl, platformKey: keys.platform, inboxUrl: receiver.url };
    const { key, ...records } = await seedDemoData(access);
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

/** How many calls each service has in `ms`, and which part of them the replica with the fewest has: from 0 to 1. */
async function measureShares(ms: number) {
  const before = new Map((await callsPerPod(creditlane)).map(({ pod, calls }) => [pod, calls]));
  // A client's connections stay with the replica of the gateway that they reached.
  await creditlane.requestOnNewConnections(40);
  await sleep(ms);
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

test('calls are spread over the replicas of each service with many calls, and each has replicas on both nodes', async () => {
  for (const service of INSTALLED) {
    const nodes = (await creditlane.pods(service)).map(({ spec }) => spec.nodeName);
    expect(new Set(nodes).size, service).toBe(REPLICAS);
  }
  await underLoad('calls spread', async () => {
    // A caller learns of a later replica when one of its connections ends, at its maximum age.
    const haveLearned = (shares: Share[]) =>
      shares.filter(({ service }) => BUSY.includes(service)).every(isSpread);
    await expect.poll(() => measureShares(4_000)).toSatisfy(haveLearned);
    const shares = (await measureShares(8_000)).filter(({ all }) => all >= 50);
    for (const { service, all, leastShare } of shares)
      process.stdout.write(`${service}: ${all} calls, ${leastShare.toFixed(2)} at one replica\n`);
    expect(shares.map(({ service }) => service)).toEqual(expect.arrayContaining(BUSY));
    expect(shares.filter((share) => !isSpread(share))).toEqual([]);
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

test('an upgrade with a new tag, changed configuration and replaced keys fails no request', async () => {
  const oldKey = platform.variables.PLATFORM_KEY ?? '';
  const jobs = await creditlane.migrations();
  await underLoad('upgrade', async () => {
    await replaceSecrets(() => platform.addKeys());
    await replaceSecrets(() => platform.useNewKeys());
    await creditlane.install(AFTER, { settings: { LOG_LEVEL: 'warn' } });
    for (const service of WITH_KEY_RING)
      await expect.poll(() => creditlane.command(service, '--rewrap-keys')).toSatisfy(isRewrapped);
    await replaceSecrets(() => platform.removeOldKeys());
  });
  for (const { metadata, spec } of await creditlane.pods()) {
    if (metadata.deletionTimestamp !== undefined) continue;
    expect(spec.containers[0].image).toBe(`${PRODUCT_REPOSITORY}:${AFTER}`);
    expect(spec.containers[0].env).toContainEqual({ name: 'LOG_LEVEL', value: 'warn' });
  }
  const { baseUrl } = await creditlane.demo();
  const headers = { authorization: `Bearer ${oldKey}` };
  const statusOfOldKey = async () => (await fetch(`${baseUrl}/applications`, { headers })).status;
  await expect.poll(statusOfOldKey).toBe(401);
  // A tenant is made with the new keys alone.
  await underLoad('after the upgrade', async () => undefined);
  // The Jobs of the new tag ran beside the old pods, which served meanwhile.
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

test('a rollback fails no request', async () => {
  await underLoad('rollback', async () => {
    await creditlane.helm('rollback', 'creditlane', '1', '--wait', '--timeout=8m');
  });
  for (const { metadata, spec } of await creditlane.pods()) {
    if (metadata.deletionTimestamp !== undefined) continue;
    expect(spec.containers[0].image).toBe(`${PRODUCT_REPOSITORY}:${BEFORE}`);
  }
});

test('a node is drained within the disruption budgets, and no request fails', async () => {
  await underLoad('drained node', async () => {
    await cluster.kubectl.run('drain', 'second', '--ignore-daemonsets', '--timeout=5m');
    for (const service of INSTALLED) await creditlane.untilComplete(service);
  });
  const nodes = (await creditlane.pods()).map(({ spec }) => spec.nodeName);
  expect(new Set(nodes)).toEqual(new Set(['first']));
  await cluster.kubectl.run('uncordon', 'second');
});

test('the autoscaler adds a replica of a service that uses more of its processors than it should', async () => {
  await creditlane.install(BEFORE, {
    services: { decisions: { autoscaling: { ...AUTOSCALING, cpuPercent: 5 } } },
  });
  await expect
    .poll(() => creditlane.pods('decisions'), { timeout: 180_000 })
    .toHaveLength(AUTOSCALING.maxReplicas);
  await creditlane.untilComplete('decisions');
});

test('a real Prometheus scrapes every pod, and fires the alert of a destination that is gone', async () => {
  const prometheus = await startPrometheus(cluster.daemons, readInputs(), await creditlane.pods());
  await expect.poll(() => prometheus.scraped()).toEqual(INSTALLED.toSorted());
  await expect.poll(() => prometheus.value('creditlane_webhook_disabled_destinations')).toBe(0);
  const gone = createServer((_, response) => response.writeHead(410).end());
  gone.listen(RECEIVER);
  await once(gone, 'listening');
  const { baseUrl, keys } = await creditlane.demo();
  const inboxUrl = `http://${RECEIVER.host}:${RECEIVER.port}`;
  await seedDemoData({ baseUrl, platformKey: keys.platform, inboxUrl });
  await expect
    .poll(() => prometheus.firing(), { timeout: 120_000 })
    .toContain('CreditlaneDestinationDisabled');
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

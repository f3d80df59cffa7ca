// The Helm chart, rendered with several sets of values, and what it refuses.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { chartValues } from '@creditlane/chart/chart-values';
import { secretManifests } from '@creditlane/chart/secret-manifests';
import { valuesSchema } from '@creditlane/chart/values-schema';
import { composeVariables } from '@creditlane/compose/env-file';
import { PUBLIC_ADDRESS_BLOCKS } from '@creditlane/egress-rules/public-address';
import { SERVICES } from '@creditlane/platform/services';
import { CLOSE_DEADLINE_MS } from '@creditlane/runtime/run';
import { readSettings, variablesOf } from '@creditlane/runtime/setting';
import { TestCertificateAuthority } from '@creditlane/runtime/test-certificate-authority';
import type { AnyService } from '@creditlane/service/define-service';
import { localSettings, processSettings } from '@creditlane/service/settings';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { findHelm, type Manifest, renderChart, runHelm } from './helm.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const fileOf = (set: string) => `charts/creditlane/values/${set}.yaml`;
const services: readonly AnyService[] = SERVICES;
const helm = (await findHelm()) ?? '';

test('values.yaml and values.schema.json are up to date with the manifests', () => {
  const [values, schema] = ['values.yaml', 'values.schema.json'].map((name) =>
    read(`charts/creditlane/${name}`),
  );
  const advice = 'run npm run generate';
  expect(values, advice).toBe(chartValues(values ?? '', SERVICES));
  expect(schema, advice).toBe(valuesSchema(SERVICES));
});

const byName = (objects: Manifest[], kind: string) =>
  new Map(objects.filter((it) => it.kind === kind).map((it) => [it.metadata.name, it]));
const podsOf = (objects: Manifest[]) =>
  objects.flatMap(({ kind, spec, metadata: { name } }) => {
    if (kind === 'Pod') return [{ name, pod: spec }];
    return spec?.template === undefined ? [] : [{ name, pod: spec.template.spec }];
  });
const defaultSeconds = (name: string) => {
  const variables = services.flatMap(({ settings }) => variablesOf(settings));
  return Number.parseInt(variables.find((it) => it.name === name)?.default ?? '', 10);
};
const nameOf = (service: string) => `test-creditlane-${service}`;

const RENDERED = {
  development: render('development'),
  ci: render('ci'),
  production: render('production'),
};

function render(set: string): Promise<Manifest[]> {
  return helm === '' ? Promise.resolve([]) : renderChart(helm, {}, [fileOf(set)]);
}

const SETS = ['development', 'ci', 'production'] as const;

describe.skipIf(!helm).each(SETS)('with the values %s', (set) => {
  const rendered = RENDERED[set];

  test('helm lint finds nothing', async () => {
    const report = await runHelm(helm, ['lint', '--strict'], {}, [fileOf(set)]);
    expect(report).toContain('0 chart(s) failed');
  });

  test('every pod meets the restricted Pod Security standard, with a read-only root and without a token', async () => {
    const objects = await rendered;
    const pods = podsOf(objects);
    expect(pods.length).toBeGreaterThan(services.length);
    for (const { name, pod } of pods) {
      expect(pod, name).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      });
      expect(pod.securityContext.runAsUser, name).toBeGreaterThan(0);
      for (const field of ['hostNetwork', 'hostPID', 'hostIPC']) expect(pod[field]).toBeUndefined();
      const volumes: object[] = pod.volumes ?? [];
      expect(volumes.every((volume) => Object.hasOwn(volume, 'projected'))).toBe(true);
      for (const container of pod.containers) {
        expect(container.securityContext, name).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        const { requests, limits } = container.resources;
        expect([requests.cpu, requests.memory, limits.memory], name).not.toContain(undefined);
      }
    }
    const accounts = byName(objects, 'ServiceAccount');
    expect([...accounts.keys()]).toEqual(services.map(({ name }) => nameOf(name)).toSorted());
    for (const account of accounts.values())
      expect(account).toMatchObject({ automountServiceAccountToken: false });
  });

  test('every service has probes, an end within its grace, a disruption budget and one owner of its replicas', async () => {
    const objects = await rendered;
    const scaled = ['HorizontalPodAutoscaler', 'ScaledObject'].flatMap((kind) =>
      [...byName(objects, kind).values()].map(({ spec }) => spec.scaleTargetRef.name),
    );
    // Of 10 s for each part: the pulls of credit-file need 2 s more than BUREAU_DEADLINE, and the gateway 1 s more than CLOSE_GRACE.
    const longest = Math.max(
      defaultSeconds('BUREAU_DEADLINE') + 2,
      defaultSeconds('CLOSE_GRACE') + 1,
    );
    const extraSeconds = longest - 10;
    for (const { name } of services) {
      const { spec } = byName(objects, 'Deployment').get(nameOf(name)) ?? { spec: {} };
      const { containers, terminationGracePeriodSeconds } = spec.template.spec;
      expect(containers).toHaveLength(1);
      const [container] = containers;
      for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'])
        expect(container[probe].httpGet).toMatchObject({ port: 'ops' });
      const { seconds } = container.lifecycle.preStop.sleep;
      const drain = container.env.find((it: { name: string }) => it.name === 'DRAIN_TIME');
      expect(drain?.value, name).toBe(name === 'gateway' ? '7s' : undefined);
      const drainSeconds = Number.parseInt(drain?.value ?? '0', 10);
      const closeSeconds = CLOSE_DEADLINE_MS / 1_000 + extraSeconds;
      expect(seconds + drainSeconds + closeSeconds).toBeLessThan(terminationGracePeriodSeconds);
      // Nodes without the label of a second constraint would not be spread over at all.
      expect(topologyKeysOf(spec.template.spec)).toEqual([
        'kubernetes.io/hostname',
        'topology.kubernetes.io/zone',
      ]);
      const owners = scaled.filter((target) => target === nameOf(name)).length;
      expect(spec.replicas === undefined ? 0 : 1, name).toBe(1 - owners);
      expect(byName(objects, 'PodDisruptionBudget').has(nameOf(name))).toBe(true);
    }
  });

  test('network policies permit what the manifests declare, and nothing else', async () => {
    const objects = await rendered;
    const policies = byName(objects, 'NetworkPolicy');
    const all = policies.get('test-creditlane');
    expect(all?.spec).toMatchObject({ policyTypes: ['Ingress', 'Egress'] });
    expect(all?.spec.ingress).toBeUndefined();
    expect(Object.keys(all?.spec.podSelector.matchLabels)).toEqual([
      'app.kubernetes.io/name',
      'app.kubernetes.io/instance',
    ]);
    for (const { spec } of policies.values()) {
      for (const rule of spec.egress) expect(rule.to.length * rule.ports.length).toBeGreaterThan(0);
    }
    const component = (peer: Peer) =>
      peer.podSelector?.matchLabels['app.kubernetes.io/component'] ?? '';
    for (const { name, calls = [], egressPorts, database, publishes, consumes } of services) {
      const { ingress, egress } = policyOf(objects, name);
      const called = egress.filter(({ ports }) => ports[0]?.port === 9000);
      expect(called.flatMap(({ to }) => to.map(component)).toSorted()).toEqual(calls.toSorted());
      const callers = services.filter((it) => it.calls?.includes(name)).map((it) => it.name);
      const admitted = ingress.filter(({ ports }) => ports[0]?.port === 'grpc');
      expect(admitted.flatMap(({ from = [] }) => from.map(component)).toSorted()).toEqual(
        callers.toSorted(),
      );
      const open = egress.filter(({ ports }) => ports.some(({ port }) => port === 443));
      expect(open).toHaveLength(egressPorts === undefined ? 0 : 1);
      const traces = set === 'production' ? 1 : 0;
      const kafka = publishes || consumes ? 1 : 0;
      const others = calls.length + open.length + (database ? 1 : 0) + kafka + traces;
      expect(egress).toHaveLength(others);
    }
  });

  test('webhook-dispatcher reaches public addresses only', async () => {
    const { egress } = policyOf(await rendered, 'webhook-dispatcher');
    const open = egress.find(({ ports }) => ports.some(({ port }) => port === 443));
    expect(open?.ports.map(({ port }) => port)).toEqual([443, 8443]);
    expect(open?.to.map(({ ipBlock }) => ipBlock?.cidr)).toEqual(
      PUBLIC_ADDRESS_BLOCKS.map(({ cidr }) => cidr),
    );
    for (const [index, { except }] of PUBLIC_ADDRESS_BLOCKS.entries())
      expect(open?.to[index]?.ipBlock?.except).toEqual(expect.arrayContaining([...except]));
    const own = open?.to[0]?.ipBlock?.except?.includes('34.118.224.0/20');
    expect(own).toBe(set === 'production');
  });

  test('every process accepts its environment, with the Secrets that npm run secrets makes', async () => {
    const objects = await rendered;
    const secrets = secretsFor(objects);
    for (const service of services) {
      const deployment = byName(objects, 'Deployment').get(nameOf(service.name));
      const env = environmentOf(deployment?.spec.template.spec, secrets);
      const values = readSettings(env, processSettings(service));
      const { certificates } = values.server ?? values.client ?? {};
      expect(certificates !== undefined, service.name).toBe(set === 'production');
    }
  });
});

/** What the pods of a service are spread over: by its only constraint, then by their preference. */
function topologyKeysOf({ topologySpreadConstraints, affinity }: Manifest['spec']): string[] {
  const preferred = affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution;
  return [
    ...topologySpreadConstraints.map((it: { topologyKey: string }) => it.topologyKey),
    ...preferred.map((it: Manifest['spec']) => it.podAffinityTerm.topologyKey),
  ];
}

/** The environment of a pod, with its Secrets as files of a folder that is removed after the test. */
function environmentOf(pod: Manifest['spec'], secrets: ReturnType<typeof secretsFor>) {
  const folder = mkdtempSync(join(tmpdir(), 'creditlane-chart-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const { secret } of pod.volumes[0].projected.sources as { secret: MountedSecret }[]) {
    for (const { key, path } of secret.items) {
      const value = secrets.get(secret.name)?.[key];
      expect(value, `${secret.name} has ${key}`).toBeDefined();
      writeFileSync(join(folder, path), value ?? '');
    }
  }
  const variables: { name: string; value: string }[] = pod.containers[0].env;
  return Object.fromEntries(
    variables.map(({ name, value }) => [name, value.replaceAll('/run/secrets/creditlane', folder)]),
  );
}

interface MountedSecret {
  name: string;
  items: { key: string; path: string }[];
}

interface Peer {
  podSelector?: { matchLabels: Record<string, string> };
  ipBlock?: { cidr: string; except?: string[] };
}

interface PolicySpec {
  ingress: { from?: Peer[]; ports: { port: string | number }[] }[];
  egress: { to: Peer[]; ports: { port: number }[] }[];
}

function policyOf(objects: Manifest[], service: string): PolicySpec {
  const policy = byName(objects, 'NetworkPolicy').get(nameOf(service));
  if (policy === undefined) throw new Error(`${service} has no network policy`);
  return policy.spec;
}

/** The contents of the Secrets: those of the installation, and stand-ins for what other tools make. */
function secretsFor(objects: Manifest[]): Map<string, Record<string, string>> {
  const options = { prefix: 'test-creditlane', adminDatabaseUrl: 'postgres://admin@db/postgres' };
  const text = secretManifests(services, composeVariables(services), options);
  const made = parseAllDocuments(text).map((it) => it.toJS());
  const { cert, key, ca } = new TestCertificateAuthority().issue();
  const [certificate = '', privateKey = '', authority = ''] = [cert, key, ca].map((file) =>
    readFileSync(file, 'utf8'),
  );
  const pems = { 'tls.crt': certificate, 'tls.key': privateKey, 'ca.crt': authority };
  const names = objects
    .flatMap(({ spec }) => spec?.template?.spec.volumes ?? [])
    .flatMap(({ projected }) => projected.sources)
    .map(({ secret }) => secret.name as string);
  const others = names.filter((name) => !made.some(({ metadata }) => metadata.name === name));
  const request = '<a>{{memberCode}}{{password}}{{firstName}}{{lastName}}{{dateOfBirth}}</a>';
  return new Map([
    ...made.map(({ metadata, stringData }) => [metadata.name, stringData] as const),
    ...others.map((name) => [name, { ...pems, 'request.xml': request }] as const),
  ]);
}

describe.skipIf(!helm)('the chart refuses', () => {
  const refused = helm === '' ? Promise.resolve('') : refusalOf(WRONG);

  test.each([
    ['no address of PostgreSQL', "'/postgres/host'"],
    ['no address of Kafka', "'/kafka/brokers'"],
    ['an unknown name', "'netwrokPolicy' not allowed"],
    ['an unknown name further down', "'tagg' not allowed"],
    ['a digest that is none', "'/image/digest'"],
    ['a wrong kind of value', "'/defaults/replicas'"],
    ['an unknown service', "'decision' not allowed"],
    ['an unknown setting', "'LOG_LEVL' not allowed"],
    ['a setting of another service', "'LEASE' not allowed"],
    ['a secret in plain text', "'KEY_RING' not allowed"],
    ['a secret of its own Secret from another one', "'REQUEST_DIGEST_KEY' not allowed"],
    ['a setting that the chart derives', "'DATABASE_URL' not allowed"],
    ['another database than the manifest names', "'/services/decisions/database'"],
    ['another peer than the manifest names', "'/services/decisions/calls'"],
    ['further public addresses', "'/publicAddresses'"],
  ])('%s', async (_, message) => {
    expect(await refused).toContain(message);
  });

  test('a host whose addresses for network policies are unknown', async () => {
    const postgres = { host: 'db.example.com' };
    const message = 'postgres.peers is needed for network policies';
    expect(await refusalOf({ postgres, kafka: { brokers: ['10.1.2.4:9092'] } })).toContain(message);
  });

  test('a release whose name makes names of Services too long', async () => {
    const release = `creditlane-${'x'.repeat(34)}`;
    const addresses = { postgres: { host: '10.1.2.3' }, kafka: { brokers: ['10.1.2.4:9092'] } };
    expect(await refusalOf(addresses, release)).toContain(
      `a Service's name has at most 63 characters, and ${release}-webhook-dispatcher has 64`,
    );
    expect(await refusalOf(addresses, release.slice(0, -1))).toBe('nothing refused');
  });
});

describe.skipIf(!helm)('a disruption budget', () => {
  const budgetsWith = async (defaults: object, decisions: object = {}) => {
    const values = {
      defaults: { podDisruptionBudget: defaults },
      services: { decisions: { podDisruptionBudget: decisions } },
    };
    const objects = await renderChart(helm, values, [fileOf('ci')]);
    return ['decisions', 'gateway'].map((name) => {
      const budget = byName(objects, 'PodDisruptionBudget').get(nameOf(name));
      const { minAvailable, maxUnavailable } = budget?.spec ?? {};
      return { minAvailable, maxUnavailable };
    });
  };

  test('with minAvailable has no maxUnavailable', async () => {
    expect(await budgetsWith({ minAvailable: 1 })).toEqual([
      { minAvailable: 1 },
      { minAvailable: 1 },
    ]);
  });

  test('of a service stands for the default one', async () => {
    expect(await budgetsWith({}, { minAvailable: '50%' })).toEqual([
      { minAvailable: '50%' },
      { maxUnavailable: 1 },
    ]);
    expect(await budgetsWith({ minAvailable: 1 }, { maxUnavailable: 2 })).toEqual([
      { maxUnavailable: 2 },
      { minAvailable: 1 },
    ]);
  });
});

test.skipIf(!helm)(
  'a service whose users are in its Secret has no other user or password',
  async () => {
    const inSecret = (key: string) => ({ secret: 'test-creditlane-decisions', key });
    const users = ['DATABASE_URL', 'KAFKA_SASL_USERNAME'];
    const secretFiles = Object.fromEntries(users.map((key) => [key, inSecret(key)]));
    const values = { services: { decisions: { secretFiles } } };
    const objects = await renderChart(helm, values, [fileOf('production')]);
    const variables = podsOf(objects)
      .filter(({ name }) => name.includes('decisions'))
      .map(({ pod }) => pod.containers[0].env.map(({ name }: { name: string }) => name));
    expect(variables.length).toBeGreaterThan(1);
    for (const names of variables) {
      expect(names).toContain('DATABASE_URL_FILE');
      expect(names).not.toContain('DATABASE_URL');
      expect(names).not.toContain('DATABASE_PASSWORD_FILE');
      expect(names).not.toContain('KAFKA_SASL_USERNAME');
    }
    expect(variables.flat()).toContain('KAFKA_SASL_USERNAME_FILE');
    expect(variables.flat()).toContain('KAFKA_SASL_PASSWORD_FILE');
  },
);

/** Helm names every violation of the schema at once. */
const WRONG = {
  postgres: { host: '' },
  kafka: { brokers: [] },
  netwrokPolicy: {},
  image: { tagg: 'x', digest: 'latest' },
  defaults: { replicas: 'two' },
  services: {
    decision: {},
    gateway: { settings: { LOG_LEVL: 'info' } },
    conversations: { settings: { LEASE: '6s' } },
    applications: {
      settings: { KEY_RING: 'k' },
      secretFiles: { REQUEST_DIGEST_KEY: { secret: 'other', key: 'key' } },
    },
    decisions: { settings: { DATABASE_URL: 'x' }, database: 'x', calls: [] },
  },
  publicAddresses: [{ cidr: '0.0.0.0/0', except: [] }],
};

async function refusalOf(values: object, release = 'test'): Promise<string> {
  const output = runHelm(helm, ['template', release], values);
  return output.then(() => 'nothing refused').catch((error: Error) => error.message);
}

describe.skipIf(!helm)('the Jobs', () => {
  const jobsOf = (objects: Manifest[]) => [...byName(objects, 'Job').values()];
  const migrationsOf = (objects: Manifest[]) =>
    jobsOf(objects).filter(({ metadata }) => metadata.name.includes('migrations'));
  const render = (values: object) => renderChart(helm, values, [fileOf('ci')]);
  const databases = services.filter(({ database }) => database).length;

  test('migrate each database, as hooks where the values say so, or not at all', async () => {
    const [apart, hooks, atStart] = [
      await RENDERED.ci,
      await render({ migrations: { by: 'hook' } }),
      await RENDERED.development,
    ].map((objects) => ({ objects, jobs: migrationsOf(objects) }));
    const isHook = ({ metadata }: Manifest) => metadata.annotations?.['helm.sh/hook'] !== undefined;
    expect(apart?.jobs.map(isHook)).toEqual(new Array(databases).fill(false));
    expect(hooks?.jobs.map(isHook)).toEqual(new Array(databases).fill(true));
    expect(atStart?.jobs).toEqual([]);
    const migratesAtStart = (objects: Manifest[] = []) =>
      [...byName(objects, 'Deployment').values()].flatMap(({ spec }) =>
        spec.template.spec.containers[0].env
          .filter(({ name }: { name: string }) => name === 'MIGRATE_AT_START')
          .map(({ value }: { value: string }) => value),
      );
    expect(migratesAtStart(apart?.objects)).toEqual(new Array(databases).fill('false'));
    expect(migratesAtStart(atStart?.objects)).toEqual(new Array(databases).fill('true'));
    // What they run is the same, so that their names are.
    const names = (jobs: Manifest[] = []) => jobs.map(({ metadata }) => metadata.name).toSorted();
    expect(names(hooks?.jobs)).toEqual(names(apart?.jobs));
  });

  test('run as hooks with the Secrets that are there before the installation', async () => {
    const values = { migrations: { by: 'hook' } };
    const objects = await renderChart(helm, values, [fileOf('production')]);
    const secrets = secretsFor(objects);
    for (const certificate of byName(objects, 'Certificate').values())
      secrets.delete(certificate.spec.secretName);
    const migrations = migrationsOf(objects);
    for (const service of services.filter(({ database }) => database)) {
      const name = nameOf(`${service.name}-migrations-`);
      const job = migrations.find(({ metadata }) => metadata.name.startsWith(name));
      const env = environmentOf(job?.spec.template.spec, secrets);
      expect(readSettings(env, localSettings(service)).database, service.name).toBeDefined();
    }
    for (const { metadata, spec } of jobsOf(objects)) {
      const { containers, volumes } = spec.template.spec;
      expect(containers[0].volumeMounts.length, metadata.name).toBe(volumes.length);
      environmentOf(spec.template.spec, secrets);
    }
  });

  test('remain once they have ended, unless they are hooks', async () => {
    const lifetimes = (objects: Manifest[]) =>
      jobsOf(objects).map(({ spec }) => spec.ttlSecondsAfterFinished);
    expect(new Set(lifetimes(await RENDERED.ci))).toEqual(new Set([undefined]));
    const hooks = await render({ migrations: { by: 'hook' } });
    expect(new Set(lifetimes(hooks))).toEqual(new Set([86_400]));
  });

  test('and the test end where the services watch their source', async () => {
    const objects = await render({ image: { watch: true } });
    const watching = podsOf(objects)
      .filter(({ pod }) => pod.containers[0].args.includes('--watch'))
      .map(({ name }) => name);
    expect(watching.toSorted()).toEqual(services.map(({ name }) => nameOf(name)).toSorted());
    expect(read('deploy/Dockerfile')).not.toContain('--watch');
  });

  test('have other names once they run another image', async () => {
    const names = jobsOf(await RENDERED.ci).map(({ metadata }) => metadata.name);
    const next = jobsOf(await render({ image: { tag: 'next' } }));
    expect(next).toHaveLength(names.length);
    for (const { metadata } of next) expect(names).not.toContain(metadata.name);
  });
});

// The Helm chart, rendered with several sets of values.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { chartValues } from '@creditlane/chart/chart-values';
import { valuesSchema } from '@creditlane/chart/values-schema';
import { SERVICES } from '@creditlane/platform/services';
import { CLOSE_DEADLINE_MS } from '@creditlane/runtime/run';
import { readSettings, variablesOf } from '@creditlane/runtime/setting';
import type { AnyService } from '@creditlane/service/define-service';
import { processSettings } from '@creditlane/service/settings';
import { beforeAll, describe, expect, test } from 'vitest';
import { findHelm, type Manifest, renderChart, runHelm } from './helm.ts';
import { byName, fileOf, nameOf, podsOf, SETS } from './manifests.ts';
import { environmentOf, secretsFor } from './pod-environment.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
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

const defaultSeconds = (name: string) => {
  const variables = services.flatMap(({ settings }) => variablesOf(settings));
  return Number.parseInt(variables.find((it) => it.name === name)?.default ?? '', 10);
};

describe.skipIf(!helm).each(SETS)('with the values %s', (set) => {
  let objects: Manifest[];
  beforeAll(async () => {
    objects = await renderChart(helm, {}, [fileOf(set)]);
  });

  test('helm lint finds nothing', async () => {
    const report = await runHelm(helm, ['lint', '--strict'], {}, [fileOf(set)]);
    expect(report).toContain('0 chart(s) failed');
  });

  test('every pod meets the restricted Pod Security standard, with a read-only root and without a token', () => {
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

  test('every service has probes, an end within its grace, a disruption budget and one owner of its replicas', () => {
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

  test('every process accepts its environment, with the Secrets that npm run secrets makes', () => {
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

test.skipIf(!helm)(
  'an authority of receivers in a Secret is a file of the dispatcher alone',
  async () => {
    const secretFiles = { EGRESS_CA: { secret: 'receivers', key: 'ca.crt' } };
    const values = { services: { 'webhook-dispatcher': { secretFiles } } };
    const objects = await renderChart(helm, values, [fileOf('production')]);
    const owners = podsOf(objects)
      .filter(({ pod }) => JSON.stringify(pod).includes('EGRESS_CA_FILE'))
      .map(({ name }) => name);
    expect(owners).toContain(nameOf('webhook-dispatcher'));
    expect(owners.filter((name) => !name.startsWith(nameOf('webhook-dispatcher')))).toEqual([]);
  },
);

// What the chart's pods request, by default and with other values, and what the pages say of it.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { MEASURED, resourcesOf } from '@creditlane/chart/measured-resources';
import { SERVICES } from '@creditlane/platform/services';
import type { AnyService } from '@creditlane/service/define-service';
import { expect, test } from 'vitest';
import { findHelm, type Manifest, renderChart } from './helm.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const PRODUCTION = 'charts/creditlane/values/production.yaml';
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const services: readonly AnyService[] = SERVICES;
const helm = (await findHelm()) ?? '';

const sum = (numbers: number[]) => numbers.reduce((total, it) => total + it, 0);
const deploymentOf = (objects: Manifest[], service: string) =>
  objects.find(
    ({ kind, metadata }) => kind === 'Deployment' && metadata.name === `test-creditlane-${service}`,
  );

test.skipIf(!helm)('the chart refuses a limit below the request', async () => {
  const refusal = (limit: string | number) => {
    const gateway = { resources: { limits: { memory: limit } } };
    const rendered = renderChart(helm, { services: { gateway } }, [PRODUCTION]);
    return rendered.then(() => 'nothing refused').catch((error: Error) => error.message);
  };
  const { memory } = resourcesOf('gateway').requests;
  expect(await refusal('512Mi')).toContain(
    `resources of gateway: the memory limit 512Mi is below the request ${memory}`,
  );
  for (const enough of [memory, '1Gi', '700M', 1_000_000_000, '1e9'])
    expect(await refusal(enough), `${enough}`).toBe('nothing refused');
});

test.skipIf(!helm)(
  'a pod asks for what was measured, unless the values say otherwise',
  async () => {
    const resourcesWith = async (values: object, service: string) => {
      const objects = await renderChart(helm, values, [PRODUCTION]);
      const { spec } = deploymentOf(objects, service) ?? {};
      return spec.template.spec.containers[0].resources;
    };
    const { requests, limits } = resourcesOf('gateway');
    expect(await resourcesWith({}, 'gateway')).toEqual({ requests, limits });
    const defaults = { resources: { requests: { cpu: '2' } } };
    const gateway = { resources: { limits: { memory: '3Gi' } } };
    const values = { defaults, services: { gateway } };
    expect(await resourcesWith(values, 'gateway')).toEqual({
      requests: { cpu: '2', memory: requests.memory },
      limits: { memory: '3Gi' },
    });
    const without = { defaults: { resources: { limits: null } } };
    expect(await resourcesWith(without, 'gateway')).toEqual({ requests, limits: {} });
    const larger = { resources: { requests: null, limits: { memory: null, cpu: 2 } } };
    const one = { defaults: { resources: { limits: { memory: '9Gi' } } } };
    expect(await resourcesWith({ ...one, services: { gateway: larger } }, 'gateway')).toEqual({
      requests: {},
      limits: { cpu: 2 },
    });
    // `helm upgrade --reuse-values` from a chart without them.
    const reused = { ...one, services: { gateway: { resourceDefaults: null } } };
    expect(await resourcesWith(reused, 'gateway')).toMatchObject({ limits: { memory: '9Gi' } });
  },
);

test.skipIf(!helm)(
  '`jobs.resources` sets the resources of the pods of Jobs and of `helm test`',
  async () => {
    const resourcesWith = async (values: object) => {
      const objects = await renderChart(helm, { databases: { enabled: true }, ...values }, [
        PRODUCTION,
      ]);
      const pods = objects.flatMap(({ kind, spec }) => {
        if (kind === 'Job') return [spec.template.spec];
        return kind === 'Pod' ? [spec] : [];
      });
      // Databases, topics, a migration for each service that has a database, and the test.
      expect(pods).toHaveLength(services.filter(({ database }) => database).length + 3);
      const found = pods.map(({ containers }) => JSON.stringify(containers[0].resources));
      return [...new Set(found)].map((it) => JSON.parse(it));
    };
    const byDefault = { requests: { cpu: '50m', memory: '192Mi' }, limits: { memory: '512Mi' } };
    expect(await resourcesWith({})).toEqual([byDefault]);
    const changed = { requests: { cpu: '5m' }, limits: null };
    expect(await resourcesWith({ jobs: { resources: changed } })).toEqual([
      { requests: { cpu: '5m', memory: '192Mi' }, limits: {} },
    ]);
    const low = { limits: { memory: '128Mi' } };
    await expect(resourcesWith({ jobs: { resources: low } })).rejects.toThrow(
      'resources of Jobs: the memory limit 128Mi is below the request 192Mi',
    );
    // `helm upgrade --reuse-values` from a chart without them.
    expect(await resourcesWith({ jobs: null })).toEqual([byDefault]);
  },
);

test('a service that was not measured requests the default', () => {
  expect(resourcesOf('unmeasured')).toEqual({
    requests: { cpu: '100m', memory: '192Mi' },
    limits: { memory: '512Mi' },
  });
});

test.skipIf(!helm)('values.yaml has the sum of what one pod of each service requests', async () => {
  const objects = await renderChart(helm, {}, [PRODUCTION]);
  const requests = services.map(({ name }) => {
    const { spec } = deploymentOf(objects, name) ?? {};
    return spec.template.spec.containers[0].resources.requests;
  });
  const cores = sum(requests.map(({ cpu }) => Number.parseInt(cpu, 10))) / 1_000;
  const gib = sum(requests.map(({ memory }) => Number.parseInt(memory, 10))) / 1_024;
  const [sentence] = /requests .* together/.exec(read('charts/creditlane/values.yaml')) ?? [];
  expect(sentence).toBe(`requests ${cores} cores and ${gib.toFixed(1)} GiB together`);
});

test('the capacity page has the measured figures', () => {
  const page = read('docs/operations/capacity.md');
  const rows = Object.entries(MEASURED).map(([name, { milliCores, memoryMib, startSeconds }]) => {
    const cores = (milliCores / 1_000).toFixed(2);
    return `| \`${name}\` | ${cores} cores | ${memoryMib} MiB | ${startSeconds.toFixed(1)} s |`;
  });
  expect(rows.filter((row) => !page.includes(row))).toEqual([]);
  const names = services.map(({ name }) => name);
  expect(Object.keys(MEASURED).filter((name) => !names.includes(name))).toEqual([]);
});

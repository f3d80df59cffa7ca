// The Jobs of the chart: topics, databases and migrations.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { SERVICES } from '@creditlane/platform/services';
import { readSettings } from '@creditlane/runtime/setting';
import type { AnyService } from '@creditlane/service/define-service';
import { localSettings } from '@creditlane/service/settings';
import { describe, expect, test } from 'vitest';
import { findHelm, type Manifest, renderChart } from './helm.ts';
import { byName, fileOf, nameOf, podsOf } from './manifests.ts';
import { environmentOf, secretsFor } from './pod-environment.ts';

const DOCKERFILE = resolve(import.meta.dirname, '../../deploy/Dockerfile');
const services: readonly AnyService[] = SERVICES;
const helm = (await findHelm()) ?? '';

describe.skipIf(!helm)('the Jobs', () => {
  const jobsOf = (objects: Manifest[]) => [...byName(objects, 'Job').values()];
  const migrationsOf = (objects: Manifest[]) =>
    jobsOf(objects).filter(({ metadata }) => metadata.name.includes('migrations'));
  const render = (values: object) => renderChart(helm, values, [fileOf('ci')]);
  const databases = services.filter(({ database }) => database).length;

  test('migrate each database, as hooks where the values say so, or not at all', async () => {
    const [apart, hooks, atStart] = [
      await render({}),
      await render({ migrations: { by: 'hook' } }),
      await renderChart(helm, {}, [fileOf('development')]),
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
    expect(new Set(lifetimes(await render({})))).toEqual(new Set([undefined]));
    const hooks = await render({ migrations: { by: 'hook' } });
    expect(new Set(lifetimes(hooks))).toEqual(new Set([86_400]));
  });

  test('and the test run on the nodes that the default values name for the pods of services', async () => {
    const tolerations = [{ key: 'credit', operator: 'Exists' }];
    const placement = { nodeSelector: { 'kubernetes.io/arch': 'amd64' }, tolerations };
    const pods = podsOf(await render({ defaults: placement }));
    for (const { name, pod } of pods) expect(pod, name).toMatchObject(placement);
    expect(pods).toHaveLength(services.length + databases + ['databases', 'topics', 'test'].length);
  });

  test('and the test end where the services watch their source', async () => {
    const objects = await render({ image: { watch: true } });
    const watching = podsOf(objects)
      .filter(({ pod }) => pod.containers[0].args.includes('--watch'))
      .map(({ name }) => name);
    expect(watching.toSorted()).toEqual(services.map(({ name }) => nameOf(name)).toSorted());
    expect(readFileSync(DOCKERFILE, 'utf8')).not.toContain('--watch');
  });

  test('have other names once they run another image', async () => {
    const names = jobsOf(await render({})).map(({ metadata }) => metadata.name);
    const next = jobsOf(await render({ image: { tag: 'next' } }));
    expect(next).toHaveLength(names.length);
    for (const { metadata } of next) expect(names).not.toContain(metadata.name);
  });
});

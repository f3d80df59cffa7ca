// The Helm chart, rendered with several sets of values, and what it refuses. A cluster proves more: see CONTRIBUTING.md.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { chartValues } from '@creditlane/chart/chart-values';
import { valuesSchema } from '@creditlane/chart/values-schema';
import { SERVICES } from '@creditlane/platform/services';
import type { AnyService } from '@creditlane/service/define-service';
import { describe, expect, test } from 'vitest';
import { findHelm, type Manifest, renderChart, runHelm } from './helm.ts';

const CHART = resolve(import.meta.dirname, '../../charts/creditlane');
const SETS = ['development', 'ci', 'production'];
const services: readonly AnyService[] = SERVICES;
const helm = (await findHelm()) ?? '';

test('values.yaml and values.schema.json are up to date with the manifests', () => {
  const read = (name: string) => readFileSync(join(CHART, name), 'utf8');
  const advice = 'run npm run generate';
  expect(read('values.yaml'), advice).toBe(chartValues(read('values.yaml'), SERVICES));
  expect(read('values.schema.json'), advice).toBe(valuesSchema(SERVICES));
});

const podsOf = (objects: Manifest[]) =>
  objects.flatMap(({ kind, spec, metadata: { name } }) => {
    if (kind === 'Pod') return [{ name, pod: spec }];
    return spec?.template === undefined ? [] : [{ name, pod: spec.template.spec }];
  });

describe.skipIf(!helm).each(SETS)('with the values %s', (set) => {
  const file = `charts/creditlane/values/${set}.yaml`;
  const rendered = helm === '' ? Promise.resolve([]) : renderChart(helm, {}, [file]);

  test('helm lint finds nothing', async () => {
    const report = await runHelm(helm, ['lint', '--strict'], {}, [file]);
    expect(report).toContain('0 chart(s) failed');
  });

  test('every pod meets the restricted Pod Security standard, with a read-only root and without a token', async () => {
    const pods = podsOf(await rendered);
    expect(pods.length).toBeGreaterThan(services.length);
    for (const { name, pod } of pods) {
      expect(pod, name).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      });
      expect(pod.securityContext.runAsUser, name).toBeGreaterThan(0);
      for (const field of ['hostNetwork', 'hostPID', 'hostIPC']) expect(pod[field]).toBeUndefined();
      for (const volume of pod.volumes ?? [])
        expect(Object.keys(volume)).toEqual(['name', 'projected']);
      for (const container of pod.containers) {
        expect(container.securityContext, name).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        expect(container.resources).toMatchObject({
          requests: { cpu: expect.anything(), memory: expect.anything() },
          limits: { memory: expect.anything() },
        });
      }
    }
  });
});

/** The metrics that processes export, with the labels that they declare, also of those without samples. */
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { vi } from 'vitest';
import { MetricSamples } from '../platform/metric-samples.ts';
import type { MetricLabels } from './promql.ts';

/** Notes what the processes of this test declare from now on. The result takes from it what /metrics exports. */
export function watchDeclarations(): (exported: string) => MetricLabels {
  const { prototype } = Metrics;
  const kinds = [vi.spyOn(prototype, 'counter'), vi.spyOn(prototype, 'gauge')];
  const histograms = vi.spyOn(prototype, 'histogram');
  return (exported) => {
    const plain = kinds.flatMap(({ mock }) =>
      mock.calls.map(([name, , labels = []]) => [name, labels] as const),
    );
    const parts = histograms.mock.calls.flatMap(
      ([name, , labels = []]) =>
        [
          [`${name}_bucket`, [...labels, 'le']],
          [`${name}_sum`, labels],
          [`${name}_count`, labels],
        ] as const,
    );
    const declared = new Map<string, readonly string[]>(
      [...plain, ...parts].map(([name, labels]) => [`creditlane_${name}`, labels]),
    );
    const samples = new MetricSamples(exported);
    return new Map(
      [...samples.names].map((name) => [
        name,
        new Set(declared.get(name) ?? samples.labelsOf(name)),
      ]),
    );
  };
}

/** Finds the objects of a rendered chart. */
import type { Manifest } from './helm.ts';

/** The sets of values that come with the chart. */
export const SETS = ['development', 'ci', 'production'] as const;

export const fileOf = (set: (typeof SETS)[number]) => `charts/creditlane/values/${set}.yaml`;

/** The name of a service's objects in the release `test`. */
export const nameOf = (service: string) => `test-creditlane-${service}`;

export const byName = (objects: Manifest[], kind: string) =>
  new Map(objects.filter((it) => it.kind === kind).map((it) => [it.metadata.name, it]));

/** The pods that objects make, with the names of the objects. */
export const podsOf = (objects: Manifest[]) =>
  objects.flatMap(({ kind, spec, metadata: { name } }) => {
    if (kind === 'Pod') return [{ name, pod: spec }];
    return spec?.template === undefined ? [] : [{ name, pod: spec.template.spec }];
  });

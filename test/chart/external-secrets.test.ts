// The example of how a store of secrets makes what the chart refers to.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { externalSecrets } from '@creditlane/chart/external-secrets';
import { secretManifests } from '@creditlane/chart/secret-manifests';
import { composeVariables } from '@creditlane/compose/env-file';
import { SERVICES } from '@creditlane/platform/services';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { findHelm, type Manifest, renderChart } from './helm.ts';

const FILE = resolve(import.meta.dirname, '../../charts/creditlane/external-secrets.yaml');
const PREFIX = 'creditlane';
const VALUES = { secretPrefix: PREFIX, databases: { enabled: true } };
const text = readFileSync(FILE, 'utf8');
const helm = (await findHelm()) ?? '';

interface ExternalSecret {
  metadata: { name: string };
  spec: {
    target: { name: string };
    data: { secretKey: string; remoteRef: { key: string; property: string } }[];
  };
}

const examples = parseAllDocuments(text).map((it) => it.toJS() as ExternalSecret);
const made = keysBySecret(
  examples.flatMap(({ spec }) =>
    spec.data.map(({ secretKey }) => ({ secret: spec.target.name, key: secretKey })),
  ),
);

test('external-secrets.yaml is up to date with the manifests', () => {
  expect(text, 'run npm run generate').toBe(externalSecrets(SERVICES));
});

test('each key of the example comes from the entry of its Secret in the store', () => {
  for (const { metadata, spec } of examples) {
    expect(spec.target.name).toBe(metadata.name);
    for (const { secretKey, remoteRef } of spec.data) {
      expect(remoteRef).toEqual({
        key: metadata.name.replace('-', '/'),
        property: secretKey,
      });
    }
  }
});

test('the example makes what npm run secrets makes, and the certificates', () => {
  const options = { prefix: PREFIX, adminDatabaseUrl: 'postgres://admin@db/postgres' };
  const manifests = secretManifests(SERVICES, composeVariables(SERVICES), options);
  const generated = parseAllDocuments(manifests)
    .map((it) => it.toJS() as Manifest)
    .flatMap(({ metadata, stringData = {} }) =>
      Object.keys(stringData).map((key) => ({ secret: metadata.name, key })),
    );
  const withoutTls = Object.entries(made).filter(([name]) => !name.endsWith('-tls'));
  expect(Object.fromEntries(withoutTls)).toEqual(keysBySecret(generated));
});

test.skipIf(!helm)(
  'the example makes exactly the keys that the chart refers to by its prefix',
  async () => {
    const file = 'charts/creditlane/values/production.yaml';
    const objects = await renderChart(helm, VALUES, [file]);
    const mounted = objects
      .flatMap(({ spec }) => spec?.template?.spec.volumes ?? [])
      .flatMap(({ projected }) => projected.sources as { secret: MountedSecret }[])
      .flatMap(({ secret }) => secret.items.map(({ key }) => ({ secret: secret.name, key })));
    const ofKeda = objects
      .filter(({ kind }) => kind === 'TriggerAuthentication')
      .flatMap(({ spec }) => spec.secretTargetRef as { name: string; key: string }[])
      .map(({ name, key }) => ({ secret: name, key }));
    const references = [...mounted, ...ofKeda].filter(({ secret }) =>
      secret.startsWith(`${PREFIX}-`),
    );
    expect(made).toEqual(keysBySecret(references));
  },
);

interface MountedSecret {
  name: string;
  items: { key: string }[];
}

/** By the name of a Secret, its keys in alphabetical order, each once. */
function keysBySecret(references: readonly { secret: string; key: string }[]) {
  const groups = Map.groupBy(references, ({ secret }) => secret);
  return Object.fromEntries(
    [...groups].map(([secret, them]) => [secret, [...new Set(them.map((it) => it.key))].sort()]),
  );
}

// The version that the Helm chart's objects and its notes name.

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { findHelm, type Manifest, renderChart, runHelm } from './helm.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const CI = ['charts/creditlane/values/ci.yaml'];
const helm = (await findHelm()) ?? '';
const { appVersion } = parse(readFileSync(join(ROOT, 'charts/creditlane/Chart.yaml'), 'utf8'));
const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;
const VERSION = 'app.kubernetes.io/version';

const versionsOf = (objects: Manifest[]) =>
  new Set(objects.flatMap(({ metadata: { labels } }) => labels?.[VERSION] ?? []));

test.skipIf(!helm).each([
  ['no tag and no digest', {}, appVersion],
  ['a tag', { tag: '1.2.3' }, '1.2.3'],
  ['a digest', { digest }, 'sha256-0123456789ab'],
  ['a tag beside a digest', { tag: '1.2.3', digest }, '1.2.3'],
])('an image with %s: the label and the notes say its version', async (_, image, version) => {
  expect(versionsOf(await renderChart(helm, { image }, CI))).toEqual(new Set([version]));
  const install = ['install', 'test', '--dry-run=client', '--output', 'json'];
  const { info } = JSON.parse(await runHelm(helm, install, { image }, CI));
  expect(info.notes).toMatch(`Creditlane ${version} is installed as test in default.`);
});

test.skipIf(!helm).each([`${'1'.repeat(62)}.23`, `${'1'.repeat(62)}-rc`, '_1.2.3_'])(
  'the tag %s gives a label that Kubernetes admits',
  async (tag) => {
    const versions = versionsOf(await renderChart(helm, { image: { tag } }, CI));
    expect([...versions]).toEqual([
      expect.stringMatching(/^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/),
    ]);
  },
);

// The rules, the pages of the alerts and the dashboards, as the Helm chart installs them.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { findHelm, type Manifest, renderChart } from './helm.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const VALUES = ['charts/creditlane/values/ci.yaml'];
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const helm = (await findHelm()) ?? '';

interface Alert {
  alert?: string;
  annotations: Record<string, string>;
}

const find = (objects: Manifest[], kind: string, name: string) =>
  objects.find((it) => it.kind === kind && it.metadata.name === `test-creditlane-${name}`);
const alertsOf = (groups: { rules: Alert[] }[]) =>
  groups.flatMap(({ rules }) => rules).filter(({ alert }) => alert !== undefined);

test.skipIf(!helm)(
  'the monitoring has all rules, with addresses of their pages, and all dashboards',
  async () => {
    const runbooks = 'https://git.example/creditlane/';
    const monitoring = { prometheusRules: true, dashboards: true, serviceMonitor: true, runbooks };
    const objects = await renderChart(helm, { monitoring }, VALUES);
    const groupsOf = (text: string) => parse(text.replaceAll('_url: ', `_url: ${runbooks}`)).groups;
    for (const name of ['alerts', 'slo']) {
      const { spec } = find(objects, 'PrometheusRule', name) ?? {};
      expect(spec.groups).toEqual(groupsOf(read(`deploy/monitoring/${name}.yaml`)));
    }
    const dashboards = readdirSync(join(ROOT, 'deploy/monitoring/dashboards'));
    for (const file of dashboards) {
      const { data } = find(objects, 'ConfigMap', file.replace('.json', '')) ?? {};
      expect(data?.[file]?.trim()).toBe(read(`deploy/monitoring/dashboards/${file}`).trim());
    }
    expect(dashboards.length).toBeGreaterThan(4);
  },
);

test.skipIf(!helm)(
  'without an address of the pages, each alert has the command that prints its page from a ConfigMap',
  async () => {
    const objects = await renderChart(helm, { monitoring: { prometheusRules: true } }, VALUES);
    const { data = {} } = find(objects, 'ConfigMap', 'runbooks') ?? {};
    const command =
      /^kubectl --namespace test get configmap test-creditlane-runbooks --output jsonpath='\{\.data\.(\w+)\\\.md\}'$/;
    for (const name of ['alerts', 'slo']) {
      const { spec } = find(objects, 'PrometheusRule', name) ?? {};
      const pages = alertsOf(parse(read(`deploy/monitoring/${name}.yaml`)).groups).map(
        ({ annotations }) => annotations.runbook_url ?? '',
      );
      const alerts = alertsOf(spec.groups);
      expect(alerts).toHaveLength(pages.length);
      for (const [index, { annotations }] of alerts.entries()) {
        expect(Object.keys(annotations).toSorted()).toEqual(['action', 'runbook', 'summary']);
        const key = `${command.exec(annotations.runbook ?? '')?.[1]}.md`;
        expect(data[key]?.trim()).toBe(read(pages[index] ?? '').trim());
      }
    }
    expect(Object.keys(data)).toContain('kafka-lost.md');
    expect(data['chart.md']?.trim()).toBe(read('charts/creditlane/README.md').trim());
    const list = read('docs/operations/runbooks/README.md');
    expect(data['runbooks.md']?.trim()).toBe(list.trim());
    // `kubectl apply` copies the object into an annotation, and annotations have at most 256 KiB.
    expect(JSON.stringify(data).length).toBeLessThan(200_000);
  },
);

// What watches the platform names only what the platform tells.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Certificates } from '@creditlane/rpc/credentials/certificates';
import { Closers } from '@creditlane/runtime/closers';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { startTracing } from '@creditlane/runtime/telemetry/tracing';
import { TestCertificateAuthority } from '@creditlane/runtime/test-certificate-authority';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { Figures } from './platform/metric-samples.ts';
import { startTestPlatform } from './platform/test-platform.ts';

interface Rule {
  alert: string;
  expr: string;
  for?: string;
  labels: { severity: string };
  annotations: { summary: string; action: string };
}
interface Panel {
  type: string;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { expr: string; legendFormat: string }[];
}

const DIR = resolve(import.meta.dirname, '../deploy/monitoring');
const METRIC = /\b(creditlane|nodejs|process)_\w+/g;
const SELECTOR = /\b((?:creditlane|nodejs|process)_\w+)\{([^}]*)\}/g;
/** Labels that no sample in a world without trouble has: Prometheus' own, and one of a failure. */
const ADDED = ['instance', 'metric'];

const read = (name: string) => readFileSync(join(DIR, name), 'utf8');
const rules: Rule[] = parse(read('alerts.yaml')).groups.flatMap(
  ({ rules }: { rules: Rule[] }) => rules,
);
const panels: Panel[] = JSON.parse(read('dashboard.json')).panels;
const queries = [
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
  ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
];

describe('the alerts and the dashboard', () => {
  let told: string;
  beforeAll(async () => {
    const world = await startTestPlatform();
    const submission = await world.submitApplication();
    await world.decide(submission, { decision: 'APPROVED' });
    await world.settle();
    told = await world.metrics();
    await world.close();
  });

  test('ask for nothing but metrics that are exported', async () => {
    const { names } = new Figures(`${told}\n${await toldOnRequest()}`);
    const asked = queries.map(([place, expr]) => [place, expr.match(METRIC) ?? []] as const);
    expect(asked.filter(([, metrics]) => metrics.length === 0)).toEqual([]);
    const unknown = asked.flatMap(([place, metrics]) =>
      metrics.filter((name) => !names.has(name)).map((name) => `${place}: ${name}`),
    );
    expect(unknown).toEqual([]);
  });

  test('choose and sum by labels that the metrics have', () => {
    const figures = new Figures(told);
    const labelsAnywhere = new Set(figures.samples.flatMap(({ labels }) => Object.keys(labels)));
    const strange = queries.flatMap(([place, expr]) => [
      ...[...expr.matchAll(SELECTOR)].flatMap(([, name = '', chosen = '']) =>
        [...chosen.matchAll(/(\w+)\s*(?:=|!)/g)]
          .map(([, label = '']) => label)
          .filter((label) => figures.names.has(name) && !figures.labelsOf(name).has(label))
          .map((label) => `${place}: ${name} has no ${label}`),
      ),
      ...[...expr.matchAll(/\bby \(([^)]*)\)/g)]
        .flatMap(([, labels = '']) => labels.split(', '))
        .filter((label) => !labelsAnywhere.has(label) && !ADDED.includes(label))
        .map((label) => `${place}: nothing has ${label}`),
    ]);
    expect(strange).toEqual([]);
  });
});

describe('the alerts', () => {
  test.each(rules)('$alert says how urgent it is, what is wrong and what to do', (rule) => {
    expect(rule.alert).toMatch(/^Creditlane[A-Z]\w+$/);
    expect(['page', 'ticket']).toContain(rule.labels.severity);
    expect(rule.annotations.summary).toMatch(/\.$/);
    expect(rule.annotations.action).toMatch(/\.$/);
    expect(rule.for ?? '0m').toMatch(/^\d+[smh]$/);
  });

  test('have names of their own', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  });

  test('are rules to Prometheus, and go off when they should', async (context) => {
    const promtool = (...args: string[]) => promisify(execFile)('promtool', args);
    const isThere = await promtool('--version').then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
    );
    if (!isThere) return context.skip('there is no promtool on this machine');
    await promtool('check', 'rules', join(DIR, 'alerts.yaml'));
    await promtool('test', 'rules', join(DIR, 'alerts.test.yaml'));
  });
});

test('the dashboard’s panels lie side by side and have titles of their own', () => {
  const places = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
  );
  expect(new Set(places).size).toBe(places.length);
  expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
});

/** The metrics that a process has by its configuration: its own figures, tracing, certificates. */
async function toldOnRequest(): Promise<string> {
  const log = createLog('test', { level: 'silent' });
  const metrics = new Metrics({ processFigures: true });
  const closers = new Closers();
  await startTracing({ endpoint: 'http://127.0.0.1:1', sampleRatio: 0 }, 'test', {
    log,
    metrics,
    closers,
  });
  new Certificates(new TestCertificateAuthority().issue()).observe({ log, metrics });
  const text = await metrics.text();
  await closers.close();
  return text;
}

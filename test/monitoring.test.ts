// The alert rules and the dashboard use only metrics and labels that the platform exports.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Certificates } from '@creditlane/rpc/credentials/certificates';
import { Closers } from '@creditlane/runtime/closers';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { startTracing } from '@creditlane/runtime/telemetry/tracing';
import { TestCertificateAuthority } from '@creditlane/runtime/test-certificate-authority';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { run } from './cluster/parts/run.ts';
import { MetricSamples } from './platform/metric-samples.ts';
import { findPromtool } from './platform/promtool.ts';
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
/** Labels that a platform without failures does not export; Prometheus adds `instance`. */
const OTHER_LABELS = ['instance', 'metric', 'topic', 'partition'];

const read = (name: string) => readFileSync(join(DIR, name), 'utf8');
const rules: Rule[] = parse(read('alerts.yaml')).groups.flatMap(
  ({ rules }: { rules: Rule[] }) => rules,
);
const panels: Panel[] = JSON.parse(read('dashboard.json')).panels;
/** Every query, with the name of its alert rule or the title of its panel. */
const queries = [
  ...rules.map(({ alert, expr }) => ({ source: alert, expr })),
  ...panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ source: title, expr })),
  ),
];

describe('the queries of the alert rules and the dashboard', () => {
  let exported: string;
  beforeAll(async () => {
    const platform = await startTestPlatform();
    const submission = await platform.submitNewApplication();
    await platform.recordDecision(submission, { decision: 'APPROVED' });
    await platform.settle();
    exported = await platform.metrics();
    await platform.close();
  });

  test('every query uses only metrics that are exported', async () => {
    const { names } = new MetricSamples(`${exported}\n${await readOptionalMetrics()}`);
    const used = queries.map(({ source, expr }) => ({ source, metrics: expr.match(METRIC) ?? [] }));
    expect(used.filter(({ metrics }) => metrics.length === 0)).toEqual([]);
    const unknown = used.flatMap(({ source, metrics }) =>
      metrics.filter((name) => !names.has(name)).map((name) => `${source}: ${name}`),
    );
    expect(unknown).toEqual([]);
  });

  test('every query selects and sums by labels that the metrics have', () => {
    const metrics = new MetricSamples(exported);
    const labelsAnywhere = new Set(metrics.samples.flatMap(({ labels }) => Object.keys(labels)));
    const unknown = queries.flatMap(({ source, expr }) => [
      ...[...expr.matchAll(SELECTOR)].flatMap(([, name = '', matchers = '']) =>
        [...matchers.matchAll(/(\w+)\s*(?:=|!)/g)]
          .map(([, label = '']) => label)
          .filter((label) => metrics.names.has(name) && !metrics.labelsOf(name).has(label))
          .map((label) => `${source}: ${name} has no label ${label}`),
      ),
      ...[...expr.matchAll(/\bby \(([^)]*)\)/g)]
        .flatMap(([, labels = '']) => labels.split(', '))
        .filter((label) => !labelsAnywhere.has(label) && !OTHER_LABELS.includes(label))
        .map((label) => `${source}: no metric has the label ${label}`),
    ]);
    expect(unknown).toEqual([]);
  });
});

describe('the alert rules', () => {
  test.each(rules)('$alert has a severity, a summary and an action', (rule) => {
    expect(rule.alert).toMatch(/^Creditlane[A-Z]\w+$/);
    expect(['page', 'ticket']).toContain(rule.labels.severity);
    expect(rule.annotations.summary).toMatch(/\.$/);
    expect(rule.annotations.action).toMatch(/\.$/);
    expect(rule.for ?? '0m').toMatch(/^\d+[smh]$/);
  });

  test('every alert rule has a unique name', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  });

  describe('with promtool', () => {
    let promtool: string | undefined;
    // apt-get may be run three times, each ten minutes at most.
    beforeAll(async () => {
      promtool = await findPromtool().catch((error: Error) => {
        if (process.env.CREDITLANE_REQUIRE_PROMTOOL === '1') throw error;
        return undefined;
      });
    }, 1_860_000);

    test('promtool accepts the rules, and they fire as deploy/monitoring/alerts.test.yaml says', {
      timeout: 120_000,
    }, async (context) => {
      if (promtool === undefined)
        return context.skip('promtool is not installed, and apt-get has no package of it');
      await run(promtool, ['check', 'rules', join(DIR, 'alerts.yaml')]);
      await run(promtool, ['test', 'rules', join(DIR, 'alerts.test.yaml')]);
    });
  });
});

test('the panels of the dashboard do not overlap and have unique titles', () => {
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
});

/** The metrics that depend on configuration: of the process, of tracing and of certificates. */
async function readOptionalMetrics(): Promise<string> {
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

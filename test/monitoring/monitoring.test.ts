// The alert rules and the dashboards use only metrics and labels that the platform exports, each alert has its page, and
// what the pages name exists.
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { SERVICES } from '@creditlane/platform/services';
import { Certificates } from '@creditlane/rpc/credentials/certificates';
import { Closers } from '@creditlane/runtime/closers';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { startTracing } from '@creditlane/runtime/telemetry/tracing';
import { TestCertificateAuthority } from '@creditlane/runtime/test-certificate-authority';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { MetricSamples } from '../platform/metric-samples.ts';
import { findPromtool } from '../platform/promtool.ts';
import { startTestPlatform } from '../platform/test-platform.ts';
import { run } from '../programs/run.ts';
import { watchDeclarations } from './declared-metrics.ts';
import { labelsOf, type MetricLabels } from './promql.ts';

interface Rule {
  alert?: string;
  record?: string;
  expr: string;
  for?: string;
  labels: Record<string, string>;
  annotations: { summary: string; action: string; runbook_url: string };
}
interface Panel {
  type: string;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { expr: string; legendFormat: string }[];
}
interface Dashboard {
  uid: string;
  title: string;
  panels: Panel[];
}

const ROOT = resolve(import.meta.dirname, '../..');
const DIR = join(ROOT, 'deploy/monitoring');
const RUNBOOKS = 'docs/operations/runbooks/';

const filesIn = (folder: string, ending: string) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .map((file) => join(ROOT, folder, file));
const read = (file: string) => readFileSync(file, 'utf8');

const ruleFiles = ['slo.yaml', 'alerts.yaml'].map((name) => join(DIR, name));
const rules: Rule[] = ruleFiles.flatMap((file) =>
  parse(read(file)).groups.flatMap((group: { rules: Rule[] }) => group.rules),
);
const alerts = rules.filter(({ alert }) => alert !== undefined);
const dashboards: Dashboard[] = filesIn('deploy/monitoring', '.json').map((file) =>
  JSON.parse(read(file)),
);
const testFiles = filesIn('deploy/monitoring/tests', '.test.yaml');
const pages = filesIn(RUNBOOKS, '.md').filter((file) => basename(file) !== 'README.md');

describe('on a running platform', () => {
  let metrics: MetricLabels;
  /** What is exported before the first request. */
  let atStart: MetricSamples;
  const problems: string[] = [];
  const labelsIn = (source: string, expr: string) =>
    labelsOf(expr, metrics, (problem) => problems.push(`${source}: ${problem}`));
  const wantLabels = (
    source: string,
    text: string,
    pattern: RegExp,
    among: ReadonlySet<string>,
  ) => {
    for (const [, label = ''] of text.matchAll(pattern))
      if (!among.has(label)) problems.push(`${source}: the result has no label ${label}`);
  };

  beforeAll(async () => {
    const exportedBy = watchDeclarations();
    const platform = await startTestPlatform();
    atStart = new MetricSamples(`${await platform.metrics()}\n${await readOptionalMetrics()}`);
    const submission = await platform.submitNewApplication();
    await platform.recordDecision(submission, { decision: 'APPROVED' });
    await platform.settle();
    const text = `${await platform.metrics()}\n${await readOptionalMetrics()}`;
    await platform.close();
    const recorded = new Map<string, ReadonlySet<string>>();
    metrics = new Map([...exportedBy(text)]);
    for (const { record, expr, labels } of rules) {
      if (record === undefined) continue;
      const names = new Set([...labelsIn(record, expr), ...Object.keys(labels ?? {})]);
      recorded.set(record, names);
      metrics = new Map([...metrics, ...recorded]);
    }
  });

  test('every rule uses only metrics and labels that are exported', () => {
    for (const { alert = '', expr, labels, annotations } of alerts) {
      const result = new Set([...labelsIn(alert, expr), ...Object.keys(labels)]);
      wantLabels(alert, Object.values(annotations).join(), /\$labels\.(\w+)/g, result);
    }
    expect(problems.splice(0)).toEqual([]);
  });

  test('every counter whose increase a rule reads is exported before it first increases', () => {
    const ranges = rules.flatMap(({ expr }) => [
      ...expr.matchAll(/\b(?:rate|increase)\((\w+)(?:\{([^}]*)\})?\[/g),
    ]);
    expect(ranges.length).toBeGreaterThan(40);
    const missing = ranges
      .filter(([, name = '', matchers = '']) => !atStart.has(name, matchers))
      .map(([range]) => range);
    expect([...new Set(missing)]).toEqual([]);
  });

  test('every panel uses only metrics and labels that are exported', () => {
    for (const { title, panels } of dashboards) {
      for (const { targets = [], ...panel } of panels) {
        for (const { expr, legendFormat } of targets) {
          const source = `${title}, ${panel.title}`;
          const labels = labelsIn(source, expr.replaceAll('$__rate_interval', '5m'));
          wantLabels(source, legendFormat, /\{\{(\w+)\}\}/g, labels);
        }
      }
    }
    expect(problems.splice(0)).toEqual([]);
  });

  test('every metric of the platform is in a rule or on a dashboard', () => {
    // Of a histogram one part is enough.
    const whole = (name: string) => name.replace(/_(bucket|sum|count)$/, '');
    const queries = [...rules, ...dashboards.flatMap(targetsOf)];
    const used = new Set(queries.flatMap(({ expr }) => metricsIn(expr)).map(whole));
    const exported = [...metrics.keys()].filter((name) => name.startsWith('creditlane_'));
    expect(exported.length).toBeGreaterThan(50);
    expect(exported.filter((name) => !used.has(whole(name)))).toEqual([]);
  });

  test('the pages of the alerts name only metrics that are exported', () => {
    const unknown = pages.flatMap((page) =>
      [...read(page).matchAll(/\bcreditlane_[a-z]+_\w+/g)]
        .map(([name]) => name)
        .filter((name) => !metrics.has(name) && !metrics.has(`${name}_bucket`))
        .map((name) => `${basename(page)}: ${name}`),
    );
    expect(unknown).toEqual([]);
  });
});

describe('the pages of the alerts', () => {
  /** What stands in backticks within a sentence. */
  const quotes = pages.flatMap((page) => {
    const sentences = read(page).replaceAll(/```.*?```/gs, '');
    return [...sentences.matchAll(/`([^`]+)`/g)].map(([, quote = '']) => ({ page, quote }));
  });

  test('quote on one line what is to be searched for or copied', () => {
    expect(quotes.filter(({ quote }) => quote.includes('\n'))).toEqual([]);
  });

  test('quote lines of the log as the source has them', () => {
    const source = ['libs', 'services']
      .flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: ROOT, exclude: isNotSource }))
      .map((file) => read(join(ROOT, file)))
      .join('');
    const lines = quotes.filter(({ quote }) => /^(?!kubectl)[a-z]+( [a-z',;:-]+){2,}$/.test(quote));
    expect(lines.length).toBeGreaterThan(15);
    expect(lines.filter(({ quote }) => !source.includes(quote))).toEqual([]);
  });

  test('name the dashboards that show what the alert reads, where they name any', () => {
    const missing = alerts.flatMap(({ alert, expr, annotations }) => {
      const named = dashboardsOf(read(join(ROOT, annotations.runbook_url))).map(nameOf);
      const shown = dashboards
        .filter(({ title }) => named.length === 0 || named.includes(nameOf(title)))
        .flatMap((dashboard) => targetsOf(dashboard).flatMap(({ expr }) => metricsIn(expr)));
      return metricsIn(expr)
        .filter((metric) => !shown.includes(metric))
        .map((metric) => `${alert}: ${metric}`);
    });
    expect(missing).toEqual([]);
  });

  test('name dashboards by their titles, as the actions of the alerts do', () => {
    const titles = new Set(dashboards.map(({ title }) => nameOf(title)));
    const ofPages = pages.flatMap((page) => dashboardsOf(read(page)));
    const ofActions = alerts
      .filter(({ annotations }) => annotations.action.includes('dashboard'))
      .flatMap(({ annotations: { action } }) => [...action.matchAll(/"([^"]+)"/g)])
      .map(([, name = '']) => name);
    expect(ofPages.length * ofActions.length).toBeGreaterThan(0);
    const named = [...ofPages, ...ofActions];
    expect(named.filter((name) => !titles.has(nameOf(name)))).toEqual([]);
  });
});

/** The dashboards that a page names. */
const dashboardsOf = (page: string) =>
  [...page.matchAll(/(?<!page |\*)\*([^*\n]+)\*(?!\*)/g)].map(([, name = '']) => name);

const targetsOf = ({ panels }: Dashboard) => panels.flatMap(({ targets = [] }) => targets);

/** The metrics of the platform and of Node in a query; recorded ones have a colon in their names. */
const metricsIn = (query: string) => query.match(/\b(?:creditlane|nodejs)_\w+/g) ?? [];

const isNotSource = (path: string) => path.endsWith('node_modules') || path.endsWith('.test.ts');

/** The name of a dashboard in sentences, whatever its first letter. */
const nameOf = (title: string) => title.replace('Creditlane: ', '').toLowerCase();

test.each([
  ['sum by (status) (rate(up[5m]))', 'up is not exported'],
  ['sum by (status) (rate(requests{code="1"}[5m]))', 'requests has no label code'],
  ['max by (code) (requests)', 'max by (code) (requests) has no label code'],
  ['sum(requests) / sum by (status) (requests)', 'never match'],
  ['histogram_quantile(0.9, sum by (status) (requests))', 'has no label le'],
  ['sum by (code) (absent(requests{status="1"}))', 'has no label code'],
  ['max by (b) (label_replace(requests, "a", "$1", "status", "(.*)"))', 'has no label b'],
  ['sum(requests', 'cannot be parsed'],
])('the mistake in %s is found', (query, mistake) => {
  const problems: string[] = [];
  labelsOf(query, new Map([['requests', new Set(['status'])]]), (it) => problems.push(it));
  expect(problems.join()).toContain(mistake);
});

describe('the alert rules', () => {
  test.each(alerts)('$alert has a severity, a summary and an action', (rule) => {
    expect(rule.alert).toMatch(/^Creditlane[A-Z]\w+$/);
    expect(['page', 'ticket']).toContain(rule.labels.severity);
    expect(rule.annotations.summary).toMatch(/\.$/);
    expect(rule.annotations.action).toMatch(/\.$/);
    expect(rule.for ?? '0m').toMatch(/^\d+[smhd]$/);
  });

  test('CreditlaneServiceAbsent watches every service but the gateway, which has an alert of its own', () => {
    const rule = alerts.find(({ alert }) => alert === 'CreditlaneServiceAbsent');
    const jobs = [...(rule?.expr.matchAll(/job="([^"]+)"/g) ?? [])].map(([, job]) => job);
    const names = SERVICES.map(({ name }) => name).filter((name) => name !== 'gateway');
    expect(jobs.toSorted()).toEqual(names.toSorted());
  });

  test('every alert has a unique name and severity', () => {
    const names = alerts.map(({ alert, labels }) => `${alert} ${labels.severity}`);
    expect(new Set(names).size).toBe(names.length);
  });

  test('every alert has a page of its name, and every page of an alert has one', () => {
    const named = alerts.map(({ annotations }) => join(ROOT, annotations.runbook_url));
    expect(pages.toSorted()).toEqual([...new Set(named)].toSorted());
    for (const { alert, annotations } of alerts) {
      const page = read(join(ROOT, annotations.runbook_url));
      const severities = alerts.filter((it) => it.alert === alert).map((it) => it.labels.severity);
      expect(page.split('\n').slice(0, 3)).toEqual([
        `# ${alert}`,
        '',
        `Severity: ${severities.join(' and ')}.`,
      ]);
    }
  });

  test('the list of the pages has each alert once, with its severity', () => {
    const listed = read(join(ROOT, RUNBOOKS, 'README.md')).matchAll(
      /^\| \[(\w+)\]\((.+)\) \| (.+) \|$/gm,
    );
    const wanted = pages.map((page) => [
      basename(page, '.md'),
      relative(join(ROOT, RUNBOOKS), page),
      read(page).match(/^Severity: (.+)\.$/m)?.[1],
    ]);
    expect([...listed].map(([, ...entry]) => entry).toSorted()).toEqual(wanted.toSorted());
  });

  test('every alert has a case in which it fires, and one in which it does not', () => {
    const cases = testFiles.flatMap((file) =>
      parse(read(file)).tests.flatMap(
        (it: { alert_rule_test?: AlertCase[] }) => it.alert_rule_test ?? [],
      ),
    ) as AlertCase[];
    const severitiesIn = ({ exp_alerts }: AlertCase) =>
      exp_alerts.map(({ exp_labels }) => exp_labels.severity ?? '');
    const missing = alerts.flatMap(({ alert, labels: { severity = '' } }) => {
      const own = cases.filter(({ alertname }) => alertname === alert);
      const fires = own.some((it) => severitiesIn(it).includes(severity));
      const rests = own.some((it) => !severitiesIn(it).includes(severity));
      return fires && rests ? [] : [`${alert}, ${severity}`];
    });
    expect(missing).toEqual([]);
  });

  describe('with promtool', () => {
    let promtool: string | undefined;
    // apt-get may be run three times, each ten minutes at most.
    beforeAll(async () => {
      promtool = await findPromtool();
    }, 1_860_000);

    test('promtool accepts the rules, and they fire as deploy/monitoring/tests says', {
      timeout: 120_000,
    }, async (context) => {
      if (promtool === undefined) return context.skip();
      await run(promtool, ['check', 'rules', ...ruleFiles]);
      await run(promtool, ['test', 'rules', ...testFiles]);
    });
  });
});

interface AlertCase {
  alertname: string;
  exp_alerts: { exp_labels: Record<string, string> }[];
}

test('the panels of a dashboard do not overlap and have unique titles', () => {
  for (const { title, panels } of dashboards) {
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
    );
    expect(new Set(cells).size, title).toBe(cells.length);
    expect(new Set(panels.map((it) => it.title)).size, title).toBe(panels.length);
  }
  for (const key of ['uid', 'title'] as const)
    expect(new Set(dashboards.map((it) => it[key])).size).toBe(dashboards.length);
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
  const authority = new TestCertificateAuthority((remove) => closers.add('certificates', remove));
  new Certificates(authority.issue()).observe({ log, metrics });
  const text = await metrics.text();
  await closers.close();
  return text;
}

/** A real Prometheus beside the cluster, which scrapes the pods and evaluates the alert rules. */
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { answersOk, type Daemons, flags } from '../end-to-end/daemon.ts';
import type { Pod } from './installation.ts';
import type { ClusterOptions } from './kubernetes/cluster.ts';

const MONITORING = resolve(import.meta.dirname, '../../deploy/monitoring');
const RULES = ['alerts.yaml', 'slo.yaml'].map((file) => join(MONITORING, file));
const ADDRESS = '127.0.0.1:9490';

export interface Prometheus {
  /** The services with a pod that is scraped, in the order of their names. */
  scraped(): Promise<string[]>;
  /** The sum of a metric over all pods; undefined while there is no sample. */
  value(metric: string): Promise<number | undefined>;
  /** The alerts that fire, or are about to. */
  alerts(): Promise<Alert[]>;
}

interface Alert {
  name: string;
  state: 'pending' | 'firing';
}

/** Resolves once it is ready. */
export async function startPrometheus(
  daemons: Daemons,
  { parts, dir }: ClusterOptions,
  pods: readonly Pod[],
): Promise<Prometheus> {
  // Debian's Prometheus has no discovery by the API server. The job is the service, as the chart's monitors set it.
  const targets = pods.map(({ metadata, status }) => ({
    targets: [`${status.podIP}:9090`],
    labels: { job: metadata.labels['app.kubernetes.io/component'] },
  }));
  const config = {
    global: { scrape_interval: '5s', evaluation_interval: '5s' },
    rule_files: RULES,
    scrape_configs: [{ job_name: 'creditlane', static_configs: targets }],
  };
  const file = join(dir, 'prometheus.json');
  await writeFile(file, JSON.stringify(config));
  await daemons.start({
    name: 'prometheus',
    command: parts.prometheus,
    args: flags({
      'config.file': file,
      'storage.tsdb.path': join(dir, 'prometheus'),
      'web.listen-address': ADDRESS,
    }),
    isReady: () => answersOk(`http://${ADDRESS}/-/ready`),
  });
  const read = async (path: string) => {
    const response = await fetch(`http://${ADDRESS}/api/v1/${path}`);
    return ((await response.json()) as { data: Found }).data;
  };
  return {
    async scraped() {
      const { result } = await read('query?query=min(up)by(job)==1');
      return result.map(({ metric }) => metric.job ?? '').sort();
    },
    async value(metric) {
      const { result } = await read(`query?query=sum(${metric})`);
      return result[0] && Number(result[0].value[1]);
    },
    async alerts() {
      const { alerts } = await read('alerts');
      return alerts.map(({ labels, state }) => ({ name: labels.alertname ?? '', state }));
    },
  };
}

/** As Prometheus' HTTP API answers a query, and with its alerts. */
interface Found {
  result: { metric: Record<string, string>; value: [number, string] }[];
  alerts: { state: Alert['state']; labels: Record<string, string> }[];
}

/** One installation of the chart, and what an operator does with it. */
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { join, resolve } from 'node:path';
import type { Demo } from '@creditlane/local/demo/demo';
import { SERVICES } from '@creditlane/platform/services';
import type { Kubectl } from './kubernetes/kubectl.ts';
import { PUBLIC_ADDRESS } from './kubernetes/network.ts';
import { volumeOf } from './kubernetes/node.ts';
import { PRODUCT_REPOSITORY } from './parts/images.ts';
import type { OutsidePlatform } from './platform.ts';

const CHART = resolve(import.meta.dirname, '../../charts/creditlane');
const NAMESPACE = 'creditlane';
const RELEASE = 'creditlane';
export const REPLICAS = 2;
/** Of the service that has an autoscaler; at first it sees no load that it would scale for. */
export const AUTOSCALING = {
  by: 'cpu',
  minReplicas: REPLICAS,
  maxReplicas: 3,
  cpuPercent: 100_000,
};
/** Destinations are reached by this port, one of those that the services permit. */
export const RECEIVER = { host: PUBLIC_ADDRESS, port: 8443 };

/** A pod as the API shows it, as far as the tests read it. */
export interface Pod {
  // biome-ignore lint/suspicious/noExplicitAny: the shape is that of the Kubernetes API.
  spec: any;
  metadata: {
    name: string;
    uid: string;
    labels: Record<string, string>;
    creationTimestamp: string;
    deletionTimestamp?: string;
  };
  // biome-ignore lint/suspicious/noExplicitAny: the shape is that of the Kubernetes API.
  status: any;
}

interface Job {
  metadata: { name: string; labels: Record<string, string> };
  status: { succeeded?: number };
}

/** Callers connect anew after so long, instead of a minute, and so learn of new replicas of the service. */
const FAST_DISCOVERY = { GRPC_MAX_CONNECTION_AGE: '10s' };

/** Further settings of services. */
const SETTINGS: Readonly<Record<string, object>> = {
  // A busy machine answers late, which is no failure.
  gateway: { REQUEST_DEADLINE: '30s' },
  integrations: { DESTINATIONS_ALLOW_HTTP: true },
  'webhook-dispatcher': { EGRESS_ALLOW_HTTP: true },
};

/** Values of the chart that an upgrade changes. */
interface Changes {
  settings?: Record<string, string>;
  services?: Record<string, object>;
}

export class Installation {
  readonly #kubectl: Kubectl;
  readonly #platform: OutsidePlatform;
  readonly #dir: string;

  constructor(kubectl: Kubectl, platform: OutsidePlatform, dir: string) {
    this.#kubectl = kubectl;
    this.#platform = platform;
    this.#dir = dir;
  }

  /** Makes the namespace, which admits restricted pods only, and the Secrets. */
  async prepare(): Promise<void> {
    await this.#kubectl.apply({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: NAMESPACE, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
    });
    await this.applySecrets();
  }

  /** Applies the Secrets as the platform has them now. */
  async applySecrets(): Promise<void> {
    const file = join(this.#dir, 'secrets.yaml');
    await writeFile(file, this.#platform.secrets(RELEASE), { mode: 0o600 });
    await this.kubectl('apply', '-f', file);
  }

  /** `helm upgrade --install`, which waits until every pod is ready. Resolves to what it prints. */
  async install(tag: string, { settings = {}, services = {} }: Changes = {}): Promise<string> {
    const file = join(this.#dir, 'values.json');
    const values = this.#values(tag);
    const changed = { ...values, settings, services: mergedServices(values.services, services) };
    await writeFile(file, JSON.stringify(changed));
    const options = ['--install', '--values', file, '--wait', '--timeout=8m'];
    return this.helm('upgrade', RELEASE, CHART, ...options);
  }

  /** Runs helm in the installation's namespace. */
  helm(...args: string[]): Promise<string> {
    return this.#kubectl.helm('--namespace', NAMESPACE, ...args);
  }

  /** Runs kubectl in the installation's namespace. */
  kubectl(...args: string[]): Promise<string> {
    return this.#kubectl.run('--namespace', NAMESPACE, ...args);
  }

  /** Objects of one kind, or of several, separated by commas. */
  // biome-ignore lint/suspicious/noExplicitAny: the shapes are those of the Kubernetes API.
  async list(kinds: string): Promise<any[]> {
    return (await this.#kubectl.get('--namespace', NAMESPACE, kinds)).items;
  }

  /** The names of all Secrets, with those in which Helm keeps its releases. */
  async secretNames(): Promise<string[]> {
    return (await this.list('secrets')).map(({ metadata }) => metadata.name);
  }

  /** The kinds whose objects are in no namespace, each as `apiVersion kind`. */
  async clusterWideKinds(): Promise<string[]> {
    const lines = await this.#kubectl.run('api-resources', '--namespaced=false', '--no-headers');
    return lines
      .trim()
      .split('\n')
      .map((line) => {
        // The last columns are APIVERSION, NAMESPACED and KIND; a column before them may be empty.
        const [apiVersion, , kind] = line.trim().split(/\s+/).slice(-3);
        return `${apiVersion} ${kind}`;
      });
  }

  /** The running pods of a service, or of all services. */
  async pods(service?: string): Promise<Pod[]> {
    const pods: Pod[] = await this.list('pods');
    return pods.filter(({ metadata }) => {
      const component = metadata.labels['app.kubernetes.io/component'];
      return component !== undefined && (service === undefined || component === service);
    });
  }

  /** What the pods that go on have as a secret: one text, unless some of them do not have the Secret's present one yet. */
  async mounted(secret: string): Promise<string[]> {
    const variable = `${secret}_FILE`;
    const pods = (await this.pods()).filter(
      ({ metadata, spec }) =>
        metadata.deletionTimestamp === undefined &&
        spec.containers[0].env.some(({ name }: { name: string }) => name === variable),
    );
    const texts = pods.map(({ metadata, spec }) => {
      const volume = volumeOf(join(this.#dir, spec.nodeName), metadata.uid, 'secrets');
      return readFile(join(volume, secret), 'utf8');
    });
    return [...new Set(await Promise.all(texts))];
  }

  /** Runs a command for operators in a pod of its service, and resolves to its results. */
  // biome-ignore lint/suspicious/noExplicitAny: the shapes are those of the commands.
  async command(service: string, ...args: string[]): Promise<any[]> {
    const program = ['--', 'node', `services/${service}/main.ts`, ...args];
    const printed = await this.kubectl('exec', `deployment/${RELEASE}-${service}`, ...program);
    const lines = printed
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    // The process also logs that it has started.
    return lines.filter(({ level }) => level === undefined);
  }

  /** Resolves when a pod could be evicted now, and rejects with the reason when a disruption budget forbids it. Evicts nothing. */
  async tryEviction({ metadata }: Pod): Promise<void> {
    const path = `/api/v1/namespaces/${NAMESPACE}/pods/${metadata.name}/eviction?dryRun=All`;
    const file = join(this.#dir, 'eviction.json');
    const eviction = {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: metadata.name },
    };
    await writeFile(file, JSON.stringify(eviction));
    await this.#kubectl.run('create', '--raw', path, '-f', file);
  }

  /** Resolves once a service has all its replicas, ready and of the current version. */
  async untilComplete(service: string): Promise<void> {
    const deployment = `deployment/${RELEASE}-${service}`;
    await this.kubectl('rollout', 'status', deployment, '--timeout=5m');
  }

  /** The Jobs of the migrations, also those of earlier versions. */
  async migrations(): Promise<Job[]> {
    const jobs: Job[] = await this.list('jobs');
    return jobs.filter(({ metadata }) => metadata.labels['creditlane/job'] === 'migrations');
  }

  /** Where the installation is reached, and the key of the platform administration, in the form of demo.json. */
  async demo(): Promise<Demo> {
    const services = await this.list('services');
    const gateway = services.find(({ metadata }) => metadata.name === `${RELEASE}-gateway`);
    const keys = {
      platform: this.#platform.variables.PLATFORM_KEY,
      integration: '',
      withoutChat: '',
    };
    return { baseUrl: `http://${gateway.spec.clusterIP}:8080/v1`, keys } as Demo;
  }

  /** Sends requests without a key to the gateway, each on a connection of its own. */
  async requestOnNewConnections(count: number): Promise<void> {
    const { baseUrl } = await this.demo();
    for (let sent = 0; sent < count; sent += 1) {
      const [response] = await once(get(`${baseUrl}/applications`, { agent: false }), 'response');
      response.resume();
      await once(response, 'end');
    }
  }

  #values(tag: string) {
    return {
      ...this.#platform.values,
      image: { repository: PRODUCT_REPOSITORY, tag, pullPolicy: 'Never' },
      defaults: {
        replicas: REPLICAS,
        autoscaling: { by: 'none' },
        // All replicas of all services share the processors of one machine.
        resources: { requests: { cpu: '10m', memory: '96Mi' }, limits: { memory: '512Mi' } },
      },
      // An upgrade's Jobs all run at once. Each has half the processor time of a pod that serves.
      jobs: { resources: { requests: { cpu: '5m' } } },
      services: mergedServices(settingsOfServices(), { decisions: { autoscaling: AUTOSCALING } }),
    };
  }
}

/** The settings of each service, in the form of values. */
function settingsOfServices(): Record<string, object> {
  const entries = SERVICES.map(({ name, serves }) => {
    const settings = { ...(serves === 'calls' && FAST_DISCOVERY), ...SETTINGS[name] };
    return [name, { settings }];
  });
  return Object.fromEntries(entries);
}

/** The values of each service, with those that are changed. */
function mergedServices(values: Record<string, object>, changes: Record<string, object>) {
  const entries = Object.entries(changes).map(([name, changed]) => [
    name,
    { ...values[name], ...changed },
  ]);
  return { ...values, ...Object.fromEntries(entries) };
}

/** The services that the chart installs. */
export const INSTALLED = SERVICES.map(({ name }) => name);

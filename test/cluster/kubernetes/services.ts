/** What gives the cluster its Services, its names and its figures: kube-proxy, CoreDNS and the metrics server. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { answersOk, type Daemons, flags, isHealthy } from '../../end-to-end/daemon.ts';
import type { DebianPrograms } from '../../end-to-end/debian-programs.ts';
import type { Kubectl } from './kubectl.ts';
import { DNS_ADDRESS, HOST_ADDRESS } from './network.ts';

export const DNS_IMAGE = 'docker.io/creditlane/coredns:1';

export interface ClusterServicesOptions {
  daemons: Daemons;
  /** The folder of the built programs. */
  programs: string;
  debian: DebianPrograms;
  credentials: string;
  dataDir: string;
  kubectl: Kubectl;
}

const METRICS_PORT = 4443;
const SYSTEM = 'kube-system';

export async function startClusterServices(options: ClusterServicesOptions): Promise<void> {
  await startProxy(options);
  await options.kubectl.apply(...dnsObjects());
  await startMetricsServer(options);
}

async function startProxy({
  daemons,
  programs,
  debian,
  credentials,
  dataDir,
}: ClusterServicesOptions) {
  const config = join(dataDir, 'kube-proxy.json');
  await writeFile(
    config,
    JSON.stringify({
      apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
      kind: 'KubeProxyConfiguration',
      mode: 'iptables',
      clientConnection: { kubeconfig: join(credentials, 'administrator.kubeconfig') },
      hostnameOverride: 'first',
      clusterCIDR: '10.244.0.0/16',
      // The limits are those of the machine, outside of the namespace.
      conntrack: { maxPerCore: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
    }),
  );
  await daemons.start({
    name: 'kube-proxy',
    command: join(programs, 'kube-proxy'),
    args: [`--config=${config}`],
    env: debian.env,
    isReady: () => answersOk('http://127.0.0.1:10256/healthz'),
  });
}

function dnsObjects(): object[] {
  const labels = { 'k8s-app': 'kube-dns' };
  const metadata = { name: 'coredns', namespace: SYSTEM, labels };
  const corefile = `.:53 {
  errors
  health
  ready
  kubernetes cluster.local in-addr.arpa
  cache 5
}
`;
  const container = {
    name: 'coredns',
    image: DNS_IMAGE,
    imagePullPolicy: 'Never',
    args: ['-conf', '/etc/coredns/Corefile'],
    ports: [{ containerPort: 53, protocol: 'UDP' }],
    readinessProbe: { httpGet: { path: '/ready', port: 8181 }, periodSeconds: 1 },
    volumeMounts: [{ name: 'config', mountPath: '/etc/coredns' }],
  };
  const volumes = [{ name: 'config', configMap: { name: 'coredns' } }];
  const spec = { serviceAccountName: 'coredns', containers: [container], volumes };
  const resources = ['endpoints', 'services', 'pods', 'namespaces'];
  const rbac = 'rbac.authorization.k8s.io';
  const verbs = ['list', 'watch'];
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { Corefile: corefile } },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRole',
      metadata,
      rules: [
        { apiGroups: [''], resources, verbs },
        { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs },
      ],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'coredns' },
      subjects: [{ kind: 'ServiceAccount', name: 'coredns', namespace: SYSTEM }],
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      // A replica on each node, so that names resolve while one node is drained.
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            ...spec,
            topologySpreadConstraints: [
              {
                maxSkew: 1,
                topologyKey: 'kubernetes.io/hostname',
                whenUnsatisfiable: 'ScheduleAnyway',
                labelSelector: { matchLabels: labels },
              },
            ],
          },
        },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { ...metadata, name: 'kube-dns' },
      spec: {
        clusterIP: DNS_ADDRESS,
        selector: labels,
        ports: ['UDP', 'TCP'].map((protocol) => ({
          name: protocol.toLowerCase(),
          port: 53,
          protocol,
        })),
      },
    },
  ];
}

/** It runs on the host; the API server reaches it by a Service whose one endpoint is the host. */
async function startMetricsServer(options: ClusterServicesOptions): Promise<void> {
  const { daemons, programs, credentials, dataDir, kubectl } = options;
  const kubeconfig = join(credentials, 'administrator.kubeconfig');
  await daemons.start({
    name: 'metrics-server',
    command: join(programs, 'metrics-server'),
    args: flags({
      kubeconfig,
      'authentication-kubeconfig': kubeconfig,
      'authorization-kubeconfig': kubeconfig,
      'cert-dir': dataDir,
      'secure-port': String(METRICS_PORT),
      'kubelet-insecure-tls': 'true',
      'kubelet-preferred-address-types': 'InternalIP',
      'kubelet-request-timeout': '5s',
      'metric-resolution': '10s',
    }),
    // It becomes ready later, once it has figures of the nodes.
    isReady: () => isHealthy(METRICS_PORT, 'livez'),
  });
  const name = 'metrics-server';
  const metadata = { name, namespace: SYSTEM };
  await kubectl.apply(
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: { ports: [{ port: 443, targetPort: METRICS_PORT }] },
    },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { ...metadata, labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      ports: [{ name: '', port: METRICS_PORT }],
      endpoints: [{ addresses: [HOST_ADDRESS], conditions: { ready: true } }],
    },
    {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: 'v1beta1.metrics.k8s.io' },
      spec: {
        group: 'metrics.k8s.io',
        version: 'v1beta1',
        service: metadata,
        insecureSkipTLSVerify: true,
        groupPriorityMinimum: 100,
        versionPriority: 100,
      },
    },
  );
}

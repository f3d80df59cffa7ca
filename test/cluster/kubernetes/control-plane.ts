/** etcd, the API server, the controller manager and the scheduler. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { answersOk, type Daemons, flags, isHealthy } from '../../end-to-end/daemon.ts';
import { HOST_ADDRESS, SERVICE_NETWORK } from './network.ts';

const ETCD = 'http://127.0.0.1:2379';
const POD_NETWORK = '10.244.0.0/16';

export interface ControlPlaneOptions {
  daemons: Daemons;
  /** The folder of the built programs. */
  programs: string;
  /** See `makeCredentials`. */
  credentials: string;
  dataDir: string;
  isApiReady(): Promise<boolean>;
}

export async function startControlPlane(options: ControlPlaneOptions): Promise<void> {
  const { daemons, programs, credentials, dataDir, isApiReady } = options;
  const file = (name: string) => join(credentials, name);
  await mkdir(dataDir, { recursive: true });
  await daemons.start({
    name: 'etcd',
    command: join(programs, 'etcd'),
    // The cluster ends with the run, so nothing needs to survive a crash of the machine.
    args: flags({
      'data-dir': dataDir,
      'listen-client-urls': ETCD,
      'advertise-client-urls': ETCD,
      'listen-peer-urls': 'http://127.0.0.1:2380',
      'unsafe-no-fsync': 'true',
      'log-level': 'warn',
    }),
    isReady: () => answersOk(`${ETCD}/health`),
  });
  await daemons.start({
    name: 'kube-apiserver',
    command: join(programs, 'kube-apiserver'),
    args: flags({
      'etcd-servers': ETCD,
      'advertise-address': HOST_ADDRESS,
      'service-cluster-ip-range': SERVICE_NETWORK,
      'authorization-mode': 'Node,RBAC',
      'allow-privileged': 'true',
      'token-auth-file': file('tokens.csv'),
      'client-ca-file': file('ca.crt'),
      'tls-cert-file': file('server.crt'),
      'tls-private-key-file': file('server.key'),
      'service-account-issuer': 'https://kubernetes.default.svc',
      'service-account-key-file': file('accounts.key'),
      'service-account-signing-key-file': file('accounts.key'),
      // The names of the nodes do not resolve.
      'kubelet-preferred-address-types': 'InternalIP',
      'requestheader-client-ca-file': file('ca.crt'),
      'requestheader-allowed-names': 'front-proxy',
      'requestheader-username-headers': 'X-Remote-User',
      'requestheader-group-headers': 'X-Remote-Group',
      'requestheader-extra-headers-prefix': 'X-Remote-Extra-',
      'proxy-client-cert-file': file('proxy.crt'),
      'proxy-client-key-file': file('proxy.key'),
    }),
    isReady: isApiReady,
  });
  await daemons.start({
    name: 'kube-controller-manager',
    command: join(programs, 'kube-controller-manager'),
    args: flags({
      kubeconfig: file('controller-manager.kubeconfig'),
      'cluster-cidr': POD_NETWORK,
      'cluster-signing-cert-file': file('ca.crt'),
      'cluster-signing-key-file': file('ca.key'),
      'root-ca-file': file('ca.crt'),
      'service-account-private-key-file': file('accounts.key'),
      'use-service-account-credentials': 'true',
      'leader-elect': 'false',
      // An autoscaler that looks every 15 s and waits five minutes would take most of the run.
      'horizontal-pod-autoscaler-sync-period': '5s',
      'horizontal-pod-autoscaler-cpu-initialization-period': '10s',
      'horizontal-pod-autoscaler-initial-readiness-delay': '5s',
      'horizontal-pod-autoscaler-downscale-stabilization': '20s',
    }),
    isReady: () => isHealthy(10_257),
  });
  await daemons.start({
    name: 'kube-scheduler',
    command: join(programs, 'kube-scheduler'),
    args: flags({ kubeconfig: file('scheduler.kubeconfig'), 'leader-elect': 'false' }),
    isReady: () => isHealthy(10_259),
  });
}

/** The certificates, tokens and kubeconfig files of the cluster. */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../../programs/run.ts';
import { HOST_ADDRESS, NODES } from './network.ts';

const API_SERVER = `https://${HOST_ADDRESS}:6443`;

const DAYS = '2';
const NEW_KEY = ['-newkey', 'rsa:2048', '-nodes'];
/** All names by which pods and programs reach the API server. */
const SERVER_NAMES = [
  'IP:127.0.0.1',
  `IP:${HOST_ADDRESS}`,
  'IP:10.96.0.1',
  'DNS:localhost',
  'DNS:kubernetes.default.svc',
];

/** The users of the programs: name and group. */
const USERS: Record<string, { user: string; group: string }> = {
  administrator: { user: 'administrator', group: 'system:masters' },
  'controller-manager': { user: 'system:kube-controller-manager', group: 'system:masters' },
  scheduler: { user: 'system:kube-scheduler', group: 'system:masters' },
  ...Object.fromEntries(
    NODES.map(({ name }) => [name, { user: `system:node:${name}`, group: 'system:nodes' }]),
  ),
};

/** Writes all files into the folder: `ca.crt`, `server.crt`, `proxy.crt`, `accounts.key`, `tokens.csv`, `USER.kubeconfig`. */
export async function makeCredentials(folder: string): Promise<void> {
  const path = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => run('openssl', args);
  const ca = ['-keyout', path('ca.key'), '-out', path('ca.crt'), '-days', DAYS];
  await openssl('req', '-x509', ...NEW_KEY, ...ca, '-subj', '/CN=cluster');
  const issue = async (name: string, subject: string, extension: string) => {
    const request = ['-keyout', path(`${name}.key`), '-out', path(`${name}.csr`)];
    await openssl('req', '-new', ...NEW_KEY, ...request, '-subj', subject);
    await writeFile(path(`${name}.ext`), extension);
    const signer = ['-CA', path('ca.crt'), '-CAkey', path('ca.key'), '-CAcreateserial'];
    const ends = ['-days', DAYS, '-extfile', path(`${name}.ext`), '-out', path(`${name}.crt`)];
    await openssl('x509', '-req', '-in', path(`${name}.csr`), ...signer, ...ends);
  };
  await issue('server', '/CN=kube-apiserver', `subjectAltName=${SERVER_NAMES.join(',')}\n`);
  // With it the API server authenticates to the metrics server.
  await issue('proxy', '/CN=front-proxy', 'extendedKeyUsage=clientAuth\n');
  await openssl('genrsa', '-out', path('accounts.key'), '2048');

  const tokens = Object.entries(USERS).map(([name, user]) => {
    return { name, ...user, token: randomBytes(16).toString('hex') };
  });
  const lines = tokens.map(({ token, user, group }) => `${token},${user},${user},"${group}"\n`);
  await writeFile(path('tokens.csv'), lines.join(''));
  for (const { name, token } of tokens) {
    const cluster = { server: API_SERVER, 'certificate-authority': path('ca.crt') };
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'cluster', cluster }],
      users: [{ name, user: { token } }],
      contexts: [{ name, context: { cluster: 'cluster', user: name } }],
      'current-context': name,
    };
    await writeFile(path(`${name}.kubeconfig`), JSON.stringify(config), { mode: 0o600 });
  }
}

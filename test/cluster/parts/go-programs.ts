/** Kubernetes, etcd, CoreDNS and the metrics server, built from the Go modules that the folders of `programs/` pin. */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { cachedPart, digestOf } from '../../programs/cache.ts';
import { buildGoProgram } from '../../programs/go-program.ts';

const MODULES = resolve(import.meta.dirname, '../programs');
/** The packages to build of each module, by the names of their programs. */
const PACKAGES: Record<string, Record<string, string>> = {
  kubernetes: {
    pause: './pause',
    coredns: './coredns',
    etcd: 'go.etcd.io/etcd/server/v3',
    'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
    'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
    'kube-proxy': 'k8s.io/kubernetes/cmd/kube-proxy',
    'kube-scheduler': 'k8s.io/kubernetes/cmd/kube-scheduler',
    kubelet: 'k8s.io/kubernetes/cmd/kubelet',
  },
  // A module of its own, because it needs a later release of the libraries that it shares with Kubernetes.
  'metrics-server': { 'metrics-server': 'sigs.k8s.io/metrics-server/cmd/metrics-server' },
};
const SOURCES = ['kubernetes/coredns/main.go', 'kubernetes/pause/main.go'];

/** The folder of the built programs. The Go cache keeps compiled packages, so an interrupted build goes on. */
export async function goPrograms(): Promise<string> {
  const pins = Object.keys(PACKAGES).flatMap((name) => [`${name}/go.mod`, `${name}/go.sum`]);
  const digest = await digestOf(
    [...SOURCES, ...pins].map((file) => join(MODULES, file)),
    JSON.stringify(PACKAGES),
  );
  return cachedPart('go-programs', digest, async (folder) => {
    const flags = await linkerFlags();
    for (const [module, packages] of Object.entries(PACKAGES)) {
      for (const [name, path] of Object.entries(packages)) {
        await buildGoProgram(join(MODULES, module), path, join(folder, name), flags);
      }
    }
  });
}

/** Without a version in the programs, the API server would call itself v0.0.0, which clients refuse. */
async function linkerFlags(): Promise<string> {
  const pins = await readFile(join(MODULES, 'kubernetes/go.mod'), 'utf8');
  const version = /k8s\.io\/kubernetes (v\S+)/.exec(pins)?.[1] ?? '';
  const [major, minor] = version.slice(1).split('.');
  const values = { gitVersion: version, gitMajor: major, gitMinor: minor };
  const flags = Object.entries(values).map(
    ([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`,
  );
  return ['-s', '-w', ...flags].join(' ');
}

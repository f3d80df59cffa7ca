/** All parts of the cluster that are built or fetched, from the cache when it has them. */
import { type DebianPrograms, debianPrograms } from './debian-programs.ts';
import { goPrograms } from './go-programs.ts';
import { type KubernetesClients, kubernetesClients } from './kubernetes-clients.ts';

export interface Parts {
  /** The folder of the built programs. */
  programs: string;
  debian: DebianPrograms;
  clients: KubernetesClients;
}

export async function prepareParts(): Promise<Parts> {
  const [debian, clients] = await Promise.all([debianPrograms(), kubernetesClients()]);
  return { programs: await goPrograms(), debian, clients };
}

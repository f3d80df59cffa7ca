/** All parts of the cluster that are built or fetched, from the cache when it has them. */
import { join } from 'node:path';
import { kafkaClasspath } from '@creditlane/embedded-kafka/jars';
import { type DebianPrograms, debianPrograms } from '../../end-to-end/debian-programs.ts';
import { type KubernetesClients, kubernetesClients } from '../../programs/kubernetes-clients.ts';
import { prometheusPrograms } from '../../programs/prometheus-programs.ts';
import { customResources } from './custom-resources.ts';
import { goPrograms } from './go-programs.ts';

export interface Parts {
  /** The folder of the built programs. */
  programs: string;
  debian: DebianPrograms;
  clients: KubernetesClients;
  /** The folder of the definitions of custom resources. */
  customResources: string;
  /** The path of Prometheus. */
  prometheus: string;
}

export async function prepareParts(): Promise<Parts> {
  const [debian, clients] = await Promise.all([debianPrograms(), kubernetesClients()]);
  // Brokers that are started in the namespaces find the jars of this call.
  await kafkaClasspath();
  return {
    programs: await goPrograms(),
    debian,
    clients,
    customResources: await customResources(),
    prometheus: join(await prometheusPrograms(), 'prometheus'),
  };
}

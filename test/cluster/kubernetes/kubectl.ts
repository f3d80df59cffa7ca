/** kubectl and helm with the administrator's access to the cluster. */
import { run } from '../../programs/run.ts';

export interface ClusterAccess {
  kubectl: string;
  helm: string;
  kubeconfig: string;
}

export class Kubectl {
  readonly #access: ClusterAccess;

  constructor(access: ClusterAccess) {
    this.#access = access;
  }

  /** Runs kubectl, and resolves to what it prints. */
  run(...args: string[]): Promise<string> {
    const { kubectl, kubeconfig } = this.#access;
    return run(kubectl, ['--kubeconfig', kubeconfig, ...args]);
  }

  /** Creates or changes objects. */
  apply(...objects: object[]): Promise<string> {
    return this.#send('apply', objects, []);
  }

  /** Creates objects, with further arguments of `kubectl create`. */
  create(objects: readonly object[], ...args: string[]): Promise<string> {
    return this.#send('create', objects, args);
  }

  /** What `kubectl get` gives as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: the shapes are those of the Kubernetes API.
  async get(...args: string[]): Promise<any> {
    return JSON.parse(await this.run('get', '-o', 'json', ...args));
  }

  #send(verb: string, objects: readonly object[], args: readonly string[]): Promise<string> {
    const { kubectl, kubeconfig } = this.#access;
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
    return run(kubectl, ['--kubeconfig', kubeconfig, verb, '-f', '-', ...args], { input });
  }

  helm(...args: string[]): Promise<string> {
    const { helm, kubeconfig } = this.#access;
    return run(helm, args, { env: { ...process.env, KUBECONFIG: kubeconfig } });
  }
}

/** The definitions of the custom resources that the chart can make, from the Go modules of the operators that own them. */
import { copyFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { cachedPart, digestOf } from '../../programs/cache.ts';
import { run } from '../../programs/run.ts';

const MODULES = [
  {
    module: 'sigs.k8s.io/gateway-api@v1.4.1',
    sum: 'h1:NPxFutNkKNa8UfLd2CMlEuhIPMQgDQ6DXNKG9sHbJU8=',
    files: ['config/crd/standard/gateway.networking.k8s.io_httproutes.yaml'],
  },
  {
    module: 'github.com/cert-manager/cert-manager@v1.19.2',
    sum: 'h1:jSprN1h5pgNDSl7HClAmIzXuTxic/5FXJ32kbQHqjlM=',
    files: ['deploy/crds/cert-manager.io_certificates.yaml'],
  },
  {
    module: 'github.com/kedacore/keda/v2@v2.18.3',
    sum: 'h1:PY3o80tzBAzCffS8J6eBZctT4B+g/r26zErNSMleC50=',
    files: [
      'config/crd/bases/keda.sh_scaledobjects.yaml',
      'config/crd/bases/keda.sh_triggerauthentications.yaml',
    ],
  },
  {
    module: 'github.com/prometheus-operator/prometheus-operator@v0.87.1',
    sum: 'h1:zjzxO10Rv3goA/GDbE3Vgf2TNhhcOp7fZbRG0Tkm3OY=',
    files: [
      'example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml',
      'example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml',
    ],
  },
];

/** The folder of the definitions. */
export async function customResources(): Promise<string> {
  const digest = await digestOf([], JSON.stringify(MODULES));
  return cachedPart('custom-resources', digest, async (folder) => {
    for (const { module, sum, files } of MODULES) {
      const downloaded = JSON.parse(await run('go', ['mod', 'download', '-json', module]));
      if (downloaded.Sum !== sum) throw new Error(`${module} has the sum ${downloaded.Sum}`);
      for (const file of files)
        await copyFile(join(downloaded.Dir, file), join(folder, basename(file)));
    }
  });
}

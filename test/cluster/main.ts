// `npm run test:cluster`: builds a Kubernetes cluster and its images, and runs the end-to-end tests in namespaces of their own.
import { runEndToEndTests } from '../end-to-end/end-to-end-tests.ts';
import { timed } from '../end-to-end/timed.ts';
import type { ClusterOptions } from './kubernetes/cluster.ts';
import { NODES } from './kubernetes/network.ts';
import { prepareImages } from './parts/images.ts';
import { prepareParts } from './parts/parts.ts';

await runEndToEndTests<ClusterOptions>({
  folder: 'cluster',
  untested: 'ON A CLUSTER',
  programs: ['go', 'java', 'mvn', 'apt-get', 'openssl', 'npm', 'curl'],
  controlGroups: NODES.map(({ name }) => name),
  async prepare(run) {
    const parts = await timed('programs', prepareParts);
    const imageFiles = await timed('images', () => prepareImages(parts, run));
    return { parts, imageFiles, ...run };
  },
});

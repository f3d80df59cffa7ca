// `npm run test:compose`: brings deploy/compose.yaml up by Docker's engine, in namespaces of their own.
import { runEndToEndTests } from '../end-to-end/end-to-end-tests.ts';
import { timed } from '../end-to-end/timed.ts';
import { type ComposeInputs, prepareParts } from './parts.ts';
import { prepareImages } from './prepare-images.ts';

await runEndToEndTests<ComposeInputs>({
  folder: 'compose',
  untested: 'WITH DOCKER COMPOSE',
  programs: ['go', 'apt-get', 'openssl', 'npm', 'java', 'mvn'],
  async prepare(run) {
    const parts = await timed('programs', prepareParts);
    const dataDir = await timed('images', () => prepareImages(parts, run));
    return { parts, dataDir, ...run };
  },
});

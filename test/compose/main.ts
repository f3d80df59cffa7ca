// `npm run test:compose`: brings deploy/compose.yaml up by Docker's engine, in namespaces of their own.
import { runEndToEndTests } from '../cluster/parts/end-to-end-tests.ts';
import { timed } from '../cluster/parts/timed.ts';
import { COMPOSE_VARIABLE, type ComposeInputs } from './inputs.ts';
import { prepareParts } from './parts.ts';
import { prepareImages } from './prepare-images.ts';

await runEndToEndTests<ComposeInputs>({
  folder: 'compose',
  untested: 'WITH DOCKER COMPOSE',
  programs: ['go', 'apt-get', 'openssl', 'npm', 'java', 'mvn'],
  variable: COMPOSE_VARIABLE,
  async prepare(run) {
    const parts = await timed('programs', prepareParts);
    const dataDir = await timed('images', () => prepareImages(parts, run));
    return { parts, dataDir, ...run };
  },
});

// The files that every package must have: a main file that says what the package owns, and the files
// that carry the same name in every service.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Finding,
  listFiles,
  listPackages,
  type Package,
  ROOT,
  readLines,
} from './repository.ts';

/** The main file of each package that is no service of the platform. The main file of a service is app.ts. */
const MAIN_FILES: Record<string, string> = {
  proto: 'creditlane/decisions/v1/decisions_service.proto',
  'libs/runtime': 'run.ts',
  'libs/rpc': 'service.ts',
  'libs/postgres': 'database.ts',
  'libs/messaging': 'outbox.ts',
  'libs/idempotency': 'stored-answers.ts',
  'libs/platform-acts': 'platform-acts.ts',
  'libs/events': 'bus.ts',
  'libs/service': 'define-service.ts',
  'libs/embedded-postgres': 'embedded-postgres.ts',
  'libs/embedded-kafka': 'embedded-kafka.ts',
  'libs/maven-jars': 'maven-jars.ts',
  'libs/supervision': 'pid-file.ts',
  'libs/crypto': 'envelope.ts',
  'libs/client': 'client.ts',
  'libs/egress-rules': 'destination-url.ts',
  'services/bureau-simulator': 'bureau-simulator.ts',
  'deploy/platform': 'services.ts',
  'deploy/compose': 'compose-file.ts',
  'deploy/chart': 'service-facts.ts',
  'deploy/local': 'main.ts',
  'deploy/processes': 'up.ts',
  'deploy/webhook-inbox': 'webhook-inbox.ts',
  test: 'platform/test-platform.ts',
  bench: 'main.ts',
};

/** A comment that starts on the first line, or on the line after `/**`, and holds a whole sentence. */
const OPENING_COMMENT = /^(\/\/|\/\*\*|\/\*\*\n \*) [A-Z`][\s\S]*?\./;

/** Packages whose main file does not begin with a comment that says what the package owns. */
export function findMissingOpeningComments(): Finding[] {
  return listPackages().flatMap(({ folder }) => {
    const name = MAIN_FILES[folder] ?? (isService(folder) ? 'app.ts' : undefined);
    if (name === undefined) {
      return [`${folder}:1 has no main file: add one to MAIN_FILES in test/tidy/package-files.ts`];
    }
    const file = `${folder}/${name}`;
    if (!existsSync(join(ROOT, file))) {
      return [`${file}:1 is missing: test/tidy/package-files.ts names it as the main file`];
    }
    const isCommented = OPENING_COMMENT.test(readLines(file).slice(0, 6).join('\n'));
    if (name.endsWith('.proto') || isCommented) return [];
    return [`${file}:1 must begin with a comment of one sentence: what this package owns`];
  });
}

/** Services of the platform; the bureau simulator is none, because no production installation runs it. */
function isService(folder: string): boolean {
  return folder.startsWith('services/') && !(folder in MAIN_FILES);
}

/** The files that a service must have, by its dependencies and its contract. */
function requiredFiles({ folder, dependencies }: Package): string[] {
  const required = ['service.ts', 'main.ts', 'app.ts'];
  // The SQL of a service is in store.ts, or in the files of store/.
  if ('@creditlane/postgres' in dependencies) {
    required.push('store', 'migrations/', 'row-security.test.ts');
  }
  const service = folder.slice('services/'.length);
  const contract = `proto/creditlane/${service}/v1/${service}_service.proto`;
  if (existsSync(join(ROOT, contract))) required.push('rpc.ts');
  return required;
}

/** Files that other services have under the same name and that a service lacks. */
export function findMissingServiceFiles(): Finding[] {
  const files = listFiles();
  const services = listPackages().filter(({ folder }) => isService(folder));
  return services.flatMap((service) => {
    const missing = requiredFiles(service).filter(
      (name) => !files.some((file) => file.startsWith(`${service.folder}/${name}`)),
    );
    return missing.map((name) => `${service.folder}/${name}:1 is missing: every service has it`);
  });
}

// What every room must have: its sentence on the door, and the files that its neighbours have too.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Finding, files, linesOf, type Package, packages, ROOT } from './tree.ts';

/** The main file of each room that is no service; a service's is its app.ts. */
const MAIN_FILES: Record<string, string> = {
  proto: 'creditlane/decisions/v1/decisions_service.proto',
  'libs/runtime': 'run.ts',
  'libs/rpc': 'service.ts',
  'libs/postgres': 'database.ts',
  'libs/messaging': 'outbox.ts',
  'libs/idempotency': 'stored-answers.ts',
  'libs/events': 'bus.ts',
  'libs/embedded-postgres': 'embedded-postgres.ts',
  'libs/embedded-kafka': 'embedded-kafka.ts',
  'libs/supervision': 'pid-file.ts',
  'libs/crypto': 'envelope.ts',
  'libs/egress-rules': 'destination-url.ts',
  'deploy/local': 'main.ts',
  'deploy/processes': 'up.ts',
  'deploy/webhook-inbox': 'inbox.ts',
  test: 'platform/test-platform.ts',
  bench: 'main.ts',
};

/** A sentence in a comment, on the very first line or the line after an opening of one. */
const DOOR = /^(\/\/|\/\*\*|\/\*\*\n \*) [A-Z`][\s\S]*?\./;

/** Packages whose main file does not say on its first line what the room owns. */
export function findBlankDoors(): Finding[] {
  return packages().flatMap(({ folder }) => {
    const name = folder.startsWith('services/') ? 'app.ts' : MAIN_FILES[folder];
    if (name === undefined) return [`${folder}:1 has no main file in test/tidy/rooms.ts: name it`];
    const file = `${folder}/${name}`;
    if (!existsSync(join(ROOT, file))) return [`${file}:1 is missing: it is the room's main file`];
    if (name.endsWith('.proto') || DOOR.test(linesOf(file).slice(0, 6).join('\n'))) return [];
    return [`${file}:1 must begin with one sentence, in a comment, on what the room owns`];
  });
}

/** Files that each service must have, by what it depends on. */
function filesWanted({ folder, dependencies }: Package): string[] {
  const wanted = ['main.ts', 'app.ts', 'config.ts'];
  // A service's SQL is in store.ts, or in the files of store/.
  if ('@creditlane/postgres' in dependencies) wanted.push('store', 'tables.ts', 'migrations/');
  const service = folder.slice('services/'.length);
  const contract = `proto/creditlane/${service}/v1/${service}_service.proto`;
  if (existsSync(join(ROOT, contract))) wanted.push('rpc.ts');
  return wanted;
}

/** Services without a file that carries the same name in all of them. */
export function findMissingFiles(): Finding[] {
  const all = files();
  const services = packages().filter(({ folder }) => folder.startsWith('services/'));
  return services.flatMap((service) => {
    const missing = filesWanted(service).filter(
      (name) => !all.some((file) => file.startsWith(`${service.folder}/${name}`)),
    );
    return missing.map((name) => `${service.folder}/${name}:1 is missing: all services have it`);
  });
}

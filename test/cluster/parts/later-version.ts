/** The source of a later version of the product, which has one further migration: it adds a column. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** The service whose database the later version changes. */
export const CHANGED_SERVICE = 'decisions';
/** What the later version adds to that database. */
export const ADDED_COLUMN = { table: 'decisions', column: 'later_note' };

const MANIFEST = `services/${CHANGED_SERVICE}/service.ts`;
const MIGRATION = `services/${CHANGED_SERVICE}/migrations/9999-later-note.ts`;
const MIGRATION_SOURCE = `
import { sqlMigration } from '@creditlane/postgres/sql-migration';

export const laterNote = sqlMigration('LaterNote9999999999999', {
  up: ['ALTER TABLE ${ADDED_COLUMN.table} ADD COLUMN ${ADDED_COLUMN.column} text'],
  compatibility: 'only adds',
});
`;

/** Writes the files that differ from those of the repository into a folder. Throws when the manifest has no import or no list of migrations. */
export async function writeLaterVersion(root: string, folder: string): Promise<void> {
  const manifest = await readFile(join(root, MANIFEST), 'utf8');
  const later = manifest
    .replace(/^import /m, "import { laterNote } from './migrations/9999-later-note.ts';\nimport ")
    .replace(/(migrations: \[[^\]]*)\]/, '$1  laterNote,\n      ]');
  if (later.split('laterNote').length !== 3)
    throw new Error(`${MANIFEST} has no import or no list of migrations`);
  await mkdir(dirname(join(folder, MIGRATION)), { recursive: true });
  await writeFile(join(folder, MIGRATION), MIGRATION_SOURCE);
  await writeFile(join(folder, MANIFEST), later);
}
